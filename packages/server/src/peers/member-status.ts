// The status of this server, as it reports it to the other servers.

import { create } from "@bufbuild/protobuf";
import { ENTRY_VERSION, logIndex } from "@lattice/core";
import { pb, serialDigits, timestampFromMs } from "@lattice/wire";
import type { TlsMaterial } from "../base/tls/material.ts";
import type { EtcdMember } from "../log/index.ts";
import type { StateMark } from "../state/replica/hash-series.ts";
import type { Roster } from "./roster.ts";

export interface MemberStatusSources {
  readonly serverId: string;
  readonly version: string;
  readonly appliedIndex: () => number;
  /** The entry up to which the history has no gap. */
  readonly historyThrough: () => number;
  /** The certificate of this server; `null` without one. */
  readonly certificate: () => Pick<TlsMaterial, "serial" | "notAfterMs"> | null;
  /** The address of its API. */
  readonly apiUrl: () => string;
  /** The member of etcd that this server runs. */
  readonly ownMember: () => Promise<EtcdMember | null>;
  /** The state hashes of recent entries, oldest first. */
  readonly stateMarks: () => readonly StateMark[];
  /** Whether its state differs from that of the other servers. */
  readonly diverged: () => boolean;
}

export async function ownMemberStatus(parts: MemberStatusSources): Promise<pb.GetMemberStatusResponse> {
  const etcd = await parts.ownMember().catch(() => null);
  const shown = parts.certificate();
  return create(pb.GetMemberStatusResponseSchema, {
    id: parts.serverId,
    serverVersion: parts.version,
    appliedIndex: String(parts.appliedIndex()),
    entryVersion: ENTRY_VERSION,
    historyThrough: String(parts.historyThrough()),
    apiUrl: parts.apiUrl(),
    stateMarks: parts.stateMarks().map(({ index, hash }) => ({ logIndex: String(index), stateHash: hash })),
    diverged: parts.diverged(),
    ...(shown === null ? {} : { certificate: certificateToProto(shown) }),
    ...(etcd === null ? {} : { etcd: etcdToProto(etcd) }),
  });
}

/** Asks all other servers at once; servers that do not answer in time are missing. */
export async function otherStatuses(
  roster: Pick<Roster, "others" | "client">,
  timeoutMs: number,
): Promise<readonly pb.GetMemberStatusResponse[]> {
  const ask = async ({ id }: { readonly id: string }) => roster.client(id)?.memberStatus(timeoutMs);
  const answers = await Promise.all(roster.others().map((other) => ask(other).catch(() => undefined)));
  return answers.filter((answer) => answer !== undefined);
}

/** Returns the state of a server for a comparison. */
export const stateOf = ({ id, stateMarks, diverged }: pb.GetMemberStatusResponse) => ({
  id,
  diverged,
  marks: stateMarks.map(({ logIndex: index, stateHash: hash }) => ({ index: logIndex(Number(index)), hash })),
});

const certificateToProto = ({ serial, notAfterMs }: Pick<TlsMaterial, "serial" | "notAfterMs">) =>
  create(pb.MemberCertificateSchema, { serial: serialDigits(serial), end: timestampFromMs(notAfterMs) });

/** Unknown values keep their defaults. */
export const etcdToProto = (member: EtcdMember): pb.EtcdMember =>
  create(pb.EtcdMemberSchema, {
    id: member.id,
    name: member.name,
    peerAddress: withoutScheme(member.peerUrls[0] ?? ""),
    clientAddress: withoutScheme(member.clientUrls[0] ?? ""),
    learner: member.learner,
    healthy: member.healthy,
    leader: member.leader,
    version: member.version ?? "",
    databaseBytes: member.databaseBytes ?? 0,
    raftTerm: member.raftTerm === null ? "" : String(member.raftTerm),
    raftIndex: member.raftIndex === null ? "" : String(member.raftIndex),
  });

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
