// All servers of the cluster in one list, merged from several sources: the store of the log (present servers, members,
// leader), the configuration (expected servers), the servers themselves (applied index), and etcd (its members). A server
// that does not answer is unhealthy; an etcd member that belongs to no server is listed by its own name.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { type EtcdMember, type KnownServer, type LogServer, speaksAt } from "../log/index.ts";
import { parsePeer } from "./address.ts";
import { compareStates, newestCommonEntry } from "./compare-states.ts";
import { etcdToProto, stateOf } from "./member-status.ts";

export interface MemberSources {
  readonly self: { readonly id: string; readonly address: string };
  /** The id of a server. */
  readonly leader: string | null;
  readonly lastIndex: number;
  readonly present: readonly LogServer[];
  readonly known: readonly KnownServer[];
  readonly configured: readonly KnownServer[];
  /** The answers of servers, including this one. */
  readonly answers: ReadonlyMap<string, pb.GetMemberStatusResponse>;
  readonly etcd: readonly EtcdMember[];
}

export function listMembers(sources: MemberSources): readonly pb.Member[] {
  const { etcd } = sources;
  const peers = peersOf(sources);
  const claimed = new Set<EtcdMember>();
  const states = statesOf(sources);
  const ids = new Set([sources.self.id, ...presentOf(sources, peers), ...peers.keys()]);
  const members = [...ids].map((id) => {
    const own = etcd.find((member) => speaks(member, peers.get(id)) || member.id === sources.answers.get(id)?.etcd?.id);
    if (own !== undefined) claimed.add(own);
    return create(pb.MemberSchema, { ...describe(sources, id, own), ...states.get(id) });
  });
  const unclaimed = etcd.filter((member) => !claimed.has(member)).map((member) => unclaimedMember(member));
  return [...members, ...unclaimed].sort((a, b) => (a.id < b.id ? -1 : 1));
}

type MemberState = Pick<pb.Member, "stateHash" | "diverged"> & { readonly stateIndex?: string };

/** The state hash of each server that answers, at the newest entry that they have in common. */
function statesOf({ answers, leader }: MemberSources): ReadonlyMap<string, MemberState> {
  const servers = [...answers.values()].map(stateOf);
  const common = newestCommonEntry(servers);
  const { diverged } = compareStates(servers, leader);
  return new Map(
    servers.map(({ id, marks, diverged: known }) => {
      const shown = marks.find(({ index }) => index === common) ?? marks.at(-1);
      const state = shown === undefined ? {} : { stateIndex: String(shown.index) };
      return [id, { ...state, stateHash: shown?.hash ?? "", diverged: known || diverged.has(id) }];
    }),
  );
}

/** The peer address of each server. A server whose etcd member was removed no longer belongs to the cluster. */
function peersOf({ known, configured, etcd }: MemberSources): ReadonlyMap<string, string> {
  const peers = new Map<string, string>();
  for (const { id, peer } of known) {
    if (etcd.length === 0 || etcd.some((member) => speaks(member, peer))) peers.set(id, peer);
  }
  const addresses = new Set(peers.values());
  for (const { id, peer } of configured) if (!peers.has(id) && !addresses.has(peer)) peers.set(id, peer);
  return peers;
}

/** Omits removed servers, which the store lists until their lease ends, if every server has an etcd member. */
function presentOf({ present, known, etcd, answers }: MemberSources, peers: ReadonlyMap<string, string>): string[] {
  const ids = present.map(({ id }) => id);
  const eachHasOne = known.length > 0 && etcd.length > 0;
  return eachHasOne ? ids.filter((id) => answers.has(id) || peers.has(id)) : ids;
}

function describe(sources: MemberSources, id: string, etcd: EtcdMember | undefined): pb.Member {
  const answer = sources.answers.get(id);
  const applied = answer === undefined ? null : Number(answer.appliedIndex);
  // Prefer the answer of its own server, which can reach a member that serves clients on loopback only.
  const member = answer?.etcd ?? (etcd === undefined ? undefined : etcdToProto(etcd));
  const name = sources.present.find((server) => server.id === id)?.name ?? "";
  return create(pb.MemberSchema, {
    id,
    address: id === sources.self.id ? sources.self.address : (parsePeer(name)?.address ?? ""),
    leader: id === sources.leader,
    healthy: answer !== undefined,
    serverVersion: answer?.serverVersion ?? "",
    ...(applied === null
      ? {}
      : { appliedIndex: String(applied), lag: Math.max(0, Math.round(sources.lastIndex - applied)) }),
    ...(member === undefined ? {} : { etcd: member }),
    ...(answer?.certificate === undefined ? {} : { certificate: answer.certificate }),
  });
}

const unclaimedMember = (member: EtcdMember): pb.Member => {
  const etcd = etcdToProto(member);
  return create(pb.MemberSchema, { id: etcd.name === "" ? etcd.peerAddress : etcd.name, etcd });
};

const speaks = (member: EtcdMember, peer: string | undefined): boolean => peer !== undefined && speaksAt(member, peer);
