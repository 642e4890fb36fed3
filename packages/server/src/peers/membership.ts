// Lists the members of the cluster and changes them, on any server: etcd accepts changes from every member, and the
// leader steps down when another server asks. Changes run one at a time and may be repeated after a failure.

import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError, type pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { Membership } from "../api/call/membership.ts";
import type { Metrics } from "../base/observe/index.ts";
import type { Leader } from "../lead/leader/lead.ts";
import { createSerialQueue } from "../log/contract/serial-queue.ts";
import type { EtcdMember, KnownServer, ReplicatedLog, SharedLog } from "../log/index.ts";
import type { ForeignClusters } from "../state/foreign-clusters.ts";
import { parsePeer } from "./address.ts";
import {
  asProblem,
  chooseSuccessor,
  findMember,
  refuseNewcomer,
  refuseReplacement,
  refuseTransfer,
  startedMember,
} from "./decide.ts";
import { type MemberStatusSources, otherStatuses, ownMemberStatus } from "./member-status.ts";
import { listMembers } from "./members.ts";
import type { Roster } from "./roster.ts";

/** A server that does not answer in time is listed as unhealthy; a change waits longer. */
const STATUS_TIMEOUT_MS = 1_000;
const CHANGE_TIMEOUT_MS = 4_000;
/** The preference for the named server ends after seconds; then any server may win the election. */
const TRANSFER_TIMEOUT_MS = 10_000;
const POLL_MS = 25;

interface MembershipParts {
  readonly status: MemberStatusSources;
  /** The address under which other servers reach this one. */
  readonly address: string;
  readonly log: ReplicatedLog;
  readonly leader: Leader;
  readonly roster: Roster;
  readonly configured: readonly KnownServer[];
  readonly foreign: ForeignClusters;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "membershipChange" | "leadershipTransfer">;
}

type Answers = ReadonlyMap<string, pb.GetMemberStatusResponse>;

export function createMembership(parts: MembershipParts): Membership {
  const changes = createSerialQueue();
  return {
    list: () => list(parts, STATUS_TIMEOUT_MS),
    refused: ({ id, cluster, text }) => void parts.foreign.refused({ peer: "server", subject: id, cluster, text }),
    add: (server) => changes(() => add(parts, server)),
    remove: (id, write) => changes(() => remove(parts, id, write)),
    transfer: (to) => changes(() => transfer(parts, to)),
  };
}

async function add(parts: MembershipParts, server: Parameters<Membership["add"]>[0]): Promise<readonly pb.Member[]> {
  const shared = managed(parts);
  if (server.replaces !== null) await removeLost(parts, server, server.replaces);
  const [answers, etcd] = await query(parts, CHANGE_TIMEOUT_MS);
  const refusal = refuseNewcomer(merge(parts, answers, etcd), server);
  if (refusal !== null) throw refusal;
  const after = await shared.add(server).catch((cause: unknown) => {
    throw asProblem(cause, `${server.id} cannot be added`);
  });
  const isNew = after.length > etcd.length;
  if (isNew) parts.metrics.membershipChange("added");
  parts.logger.info({ member: server.id, peer: server.peer }, isNew ? "member added" : "member already present");
  return merge(parts, answers, after);
}

/** Changes nothing when the server has no member, as when the request is repeated. */
async function removeLost(parts: MembershipParts, server: KnownServer, write: () => Promise<unknown>): Promise<void> {
  const found = startedMember(await list(parts, CHANGE_TIMEOUT_MS), server);
  if (found === null) return;
  const refusal = refuseReplacement(found);
  if (refusal !== null) throw refusal;
  const target = await removable(parts, found);
  await write();
  await discard(parts, found, target);
}

async function remove(
  parts: MembershipParts,
  id: string,
  write: () => Promise<unknown>,
): Promise<readonly pb.Member[]> {
  managed(parts);
  const members = await list(parts, CHANGE_TIMEOUT_MS);
  const found = findMember(members, id);
  if (found === null) throw new ProblemError("unknown_member", { detail: `There is no member ${id}.` });
  const target = await removable(parts, found);
  // A leader that does not answer cannot step down; its lease ends within seconds.
  if (found.leader && found.healthy) {
    const successor = chooseSuccessor(members, found.id);
    if (successor === null) throw atRisk(`${found.id} leads, and no other server answers.`);
    await handOver(parts, successor);
  }
  // Before the removal: this server may be the removed one, and cannot write afterwards.
  await write();
  await discard(parts, found, target);
  return (await list(parts, STATUS_TIMEOUT_MS)).filter((member) => member.id !== found.id);
}

/** Returns its etcd member, or `null` when it has none. Throws when the cluster could lose its majority. */
async function removable(parts: MembershipParts, found: pb.Member): Promise<EtcdMember | null> {
  const shared = managed(parts);
  const target = (await shared.members(CHANGE_TIMEOUT_MS)).find((member) => member.id === found.etcd?.id);
  if (target === undefined) return null;
  const refusal = await shared.refuseRemove(target);
  if (refusal !== null) throw atRisk(`${found.id} cannot be removed: ${refusal}`);
  return target;
}

async function discard(parts: MembershipParts, found: pb.Member, target: EtcdMember | null): Promise<void> {
  const shared = managed(parts);
  const removing = target === null ? shared.forget(found.id) : shared.remove(target);
  await removing.catch((cause: unknown) => {
    throw asProblem(cause, `${found.id} cannot be removed`);
  });
  parts.metrics.membershipChange("removed");
  parts.logger.info({ member: found.id, etcd: found.etcd?.id ?? null }, "member removed");
}

async function transfer(parts: MembershipParts, to: string | null): Promise<LeaderTerm> {
  const { log } = parts;
  if (log.shared === undefined) throw notShared();
  const members = await list(parts, CHANGE_TIMEOUT_MS);
  const now = leaderId(parts);
  if (now === null) throw new ProblemError("not_leader");
  const target = to ?? chooseSuccessor(members, now);
  if (target === null) throw atRisk(`${now} leads, and no other server answers.`);
  if (!members.some(({ id, healthy }) => id === now && healthy))
    throw new ProblemError("not_leader", { detail: `${now} was the last leader and does not answer.` });
  if (target === now) return { leader: now, term: log.status().term };
  const refusal = refuseTransfer(members, target);
  if (refusal !== null) throw refusal;
  return handOver(parts, target);
}

interface LeaderTerm {
  readonly leader: string;
  readonly term: number;
}

async function handOver(parts: MembershipParts, to: string): Promise<LeaderTerm> {
  const { log, leader, roster, logger, metrics } = parts;
  const term = log.status().term;
  const from = leaderId(parts);
  logger.info({ from, to }, "leadership transfer started");
  const isOwn = from === parts.status.serverId;
  const accepted = isOwn ? await leader.stepDown(to) : await roster.client(from ?? "")?.stepDown(to);
  // The former leader lost its leadership meanwhile; the caller finds the new one with the next call.
  if (accepted !== true) throw new ProblemError("not_leader");
  const result = await leaderAfter(parts, term);
  metrics.leadershipTransfer(result.leader === to ? "done" : "elsewhere");
  const done = result.leader === to ? "leadership transferred" : "leadership transferred to another server";
  logger.info({ from, to, ...result }, done);
  return result;
}

async function leaderAfter(parts: MembershipParts, term: number): Promise<LeaderTerm> {
  const until = performance.now() + TRANSFER_TIMEOUT_MS;
  for (;;) {
    const status = parts.log.status();
    const now = leaderId(parts);
    if (now !== null && status.term > term) return { leader: now, term: status.term };
    if (performance.now() > until)
      throw new ProblemError("not_leader", {
        detail: `${now ?? "No server"} leads; no other server took over in time.`,
      });
    await sleep(POLL_MS);
  }
}

function leaderId({ log }: MembershipParts): string | null {
  const name = log.status().leader;
  return name === null ? null : (parsePeer(name)?.id ?? name);
}

async function statuses({ roster, status }: MembershipParts, timeoutMs: number): Promise<Answers> {
  const [own, others] = await Promise.all([ownMemberStatus(status), otherStatuses(roster, timeoutMs)]);
  return new Map([own, ...others].map((answer) => [answer.id, answer]));
}

const query = (parts: MembershipParts, timeoutMs: number): Promise<[Answers, readonly EtcdMember[]]> =>
  Promise.all([statuses(parts, timeoutMs), parts.log.shared?.members(timeoutMs) ?? []]);

const list = async (parts: MembershipParts, timeoutMs: number): Promise<readonly pb.Member[]> =>
  merge(parts, ...(await query(parts, timeoutMs)));

const merge = (parts: MembershipParts, answers: Answers, etcd: readonly EtcdMember[]): readonly pb.Member[] =>
  listMembers({
    self: { id: parts.status.serverId, address: parts.address },
    leader: leaderId(parts),
    lastIndex: parts.log.status().lastIndex,
    present: parts.log.present(),
    known: parts.log.shared?.known() ?? [],
    configured: parts.configured,
    answers,
    etcd,
  });

function managed({ log }: MembershipParts): SharedLog {
  if (log.shared === undefined) throw notShared();
  if (!log.shared.managed) throw externalEtcd();
  return log.shared;
}

const atRisk = (detail: string): ProblemError => new ProblemError("majority_at_risk", { detail });

const notShared = (): ProblemError =>
  new ProblemError("conflict", {
    detail: "This server does not share its log, so there are no members to change.",
    hint: "Several servers need quorum.engine: etcd; see docs/operating/several-servers.md.",
  });

const externalEtcd = (): ProblemError =>
  new ProblemError("conflict", {
    detail: "The servers of this cluster do not manage its etcd, so they cannot change its members.",
    hint: "Use etcdctl member add and etcdctl member remove. To add a server, start it with the same endpoints; to remove one, stop it.",
  });
