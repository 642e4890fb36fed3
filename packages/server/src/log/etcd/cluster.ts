// Lists and changes the members of etcd itself, one change at a time. A change is refused when it could leave the
// cluster without a majority of answering members.

import { setTimeout as sleep } from "node:timers/promises";
import type { Member, StatusResponse } from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { EtcdMember } from "../contract/shared-log.ts";
import type { EtcdTls } from "./client/channel.ts";
import { createEtcdClient, type EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { answersPeers, peersKnownBy } from "./probe.ts";

/** Together below two seconds, the timeout of callers that list the members. */
const LIST_TIMEOUT_MS = 800;
const STATUS_TIMEOUT_MS = 1_000;
/** A slow member gets more time before a change. */
const PATIENT_TIMEOUT_MS = 4_000;
/** etcd changes nothing before its members have been connected for five seconds. */
const CHANGE_TIMEOUT_MS = 10_000;
const RETRY_MS = 500;
const GONE_WITHIN_MS = 3_000;
const GONE_POLL_MS = 100;

export type { EtcdMember } from "../contract/shared-log.ts";

export interface EtcdCluster {
  /** While etcd does not answer: the members it listed last. */
  members(patienceMs?: number): Promise<readonly EtcdMember[]>;
  /** The member at this endpoint; null when it does not answer. */
  memberAt(endpoint: string): Promise<EtcdMember | null>;
  /** Announces a member that will start at this peer address. */
  add(peerUrl: string): Promise<readonly EtcdMember[]>;
  /** Refused when the remaining members would have no answering majority. */
  remove(id: string): Promise<readonly EtcdMember[]>;
  /** Makes a member lead etcd. */
  moveLeader(id: string): Promise<void>;
}

export function createCluster(client: EtcdClient, tls: EtcdTls | null): EtcdCluster {
  const at = async <T>(member: Member, ask: (client: EtcdClient) => Promise<T>): Promise<T> => {
    if (member.clientUrls.length === 0) throw new EtcdError("unavailable", "the member has not been started");
    const own = createEtcdClient({ endpoints: member.clientUrls, tls });
    try {
      return await ask(own);
    } finally {
      own.close();
    }
  };
  let named: readonly Member[] = [];
  const list = async (): Promise<readonly Member[]> => {
    named = await client.memberList();
    return named;
  };
  /** Members on several hosts may all advertise loopback to clients: the one that answers there is our own. */
  const statusOf = async (member: Member, patienceMs: number): Promise<StatusResponse | null> => {
    const status = await at(member, (own) => own.status(patienceMs)).catch(() => null);
    return status?.header?.memberId === member.id ? status : null;
  };
  const inspect = async (member: Member, patienceMs: number): Promise<EtcdMember> => {
    const [status, answers] = await Promise.all([
      statusOf(member, patienceMs),
      answersPeers(member.peerUrls[0] ?? "", tls, patienceMs),
    ]);
    return describe(member, status, answers);
  };
  const members = async (patienceMs = STATUS_TIMEOUT_MS): Promise<readonly EtcdMember[]> => {
    const late = new AbortController();
    const lastNamed = sleep(LIST_TIMEOUT_MS, null, { signal: late.signal }).catch(() => null);
    const answered = await Promise.race([list().catch(() => null), lastNamed]);
    late.abort();
    return Promise.all((answered ?? named).map((member) => inspect(member, patienceMs)));
  };
  // Read at the start, in case there is no majority when the list is needed.
  void list().catch(() => undefined);
  const find = async (id: string): Promise<Member> => {
    const member = (await client.memberList()).find((one) => hex(one.id) === id);
    if (member === undefined) throw new EtcdError("not_found", `no member of etcd has the id ${id}`);
    return member;
  };

  return {
    members,
    async memberAt(endpoint) {
      const own = createEtcdClient({ endpoints: [endpoint], tls });
      try {
        const status = await own.status(STATUS_TIMEOUT_MS);
        const member =
          named.find(({ id }) => id === status.header?.memberId) ??
          (await list()).find(({ id }) => id === status.header?.memberId);
        return member === undefined ? null : describe(member, status, true);
      } catch {
        return null;
      } finally {
        own.close();
      }
    },
    async add(peerUrl) {
      const known = await members(PATIENT_TIMEOUT_MS);
      if (known.some((member) => member.peerUrls.includes(peerUrl))) return known;
      const refusal = refuseAdd(known);
      const isBusy = known.some((member) => member.learner);
      if (refusal !== null) throw new EtcdError(isBusy ? "busy" : "refused", refusal);
      await whenSteady(async () => {
        named = (await client.memberAdd(peerUrl)).members;
      });
      return named.map((member) => known.find(({ id }) => id === hex(member.id)) ?? describe(member, null, false));
    },
    async remove(id) {
      const member = await find(id);
      const before = await members(PATIENT_TIMEOUT_MS);
      const refusal = refuseRemove(before, id);
      if (refusal !== null) throw new EtcdError("refused", refusal);
      await whenSteady(async () => {
        named = await client.memberRemove(member.id);
      }).catch(async (cause: unknown) => {
        // A member that removes itself may stop before it answers; the others know.
        if (!(await goesSoon(() => isGone(member, before, tls)))) throw cause;
        named = named.filter((one) => one.id !== member.id);
      });
      return members();
    },
    async moveLeader(id) {
      const target = await find(id);
      const leader = (await members()).find((member) => member.leader);
      if (leader === undefined) throw new EtcdError("unavailable", "etcd has no leader at the moment");
      if (leader.id === id) return;
      await at(await find(leader.id), (own) => own.moveLeader(target.id));
    },
  };
}

/** The others learn of the change with the next heartbeat of their leader. */
async function goesSoon(isGone: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + GONE_WITHIN_MS;
  while (!(await isGone())) {
    if (performance.now() > until) return false;
    await sleep(GONE_POLL_MS);
  }
  return true;
}

async function isGone(member: Member, known: readonly EtcdMember[], tls: EtcdTls | null): Promise<boolean> {
  const others = known.filter(({ id, healthy }) => healthy && id !== hex(member.id));
  const lists = await Promise.all(
    others.map(({ peerUrls }) => peersKnownBy(peerUrls[0] ?? "", tls, STATUS_TIMEOUT_MS)),
  );
  const heard = lists.filter((list) => list !== null);
  return heard.length > 0 && heard.every((list) => !member.peerUrls.some((url) => list.includes(url)));
}

/** With this refusal nothing has changed. */
async function whenSteady(change: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + CHANGE_TIMEOUT_MS;
  for (;;) {
    try {
      await change();
      return;
    } catch (cause) {
      const unsteady = cause instanceof EtcdError && cause.message.includes("unhealthy cluster");
      if (!unsteady || performance.now() > until) throw cause;
      await sleep(RETRY_MS);
    }
  }
}

/** A new member raises the majority. Returns `null` when it may be added. */
export function refuseAdd(all: readonly Ballot[]): string | null {
  const learner = all.find((member) => member.learner);
  // etcd allows one at a time.
  if (learner !== undefined) {
    const name = learner.name === "" ? (learner.peerUrls[0] ?? "") : learner.name;
    return `the member at ${name} was added before and has not caught up; start it, or remove it`;
  }
  const healthy = all.filter((member) => member.healthy).length;
  const needed = majority(all.length + 1);
  if (healthy >= needed || all.length <= 1) return null;
  return `with one more member ${needed} of ${all.length + 1} must answer, and ${healthy} do; repair or remove a member first`;
}

/** Returns why the member must not be removed; `null` when it may. A learner has no vote and may always leave. */
export function refuseRemove(all: readonly Ballot[], id: string): string | null {
  const members = all.filter((member) => !member.learner);
  const left = members.filter((member) => member.id !== id);
  if (left.length === 0) return "it is the last member";
  const answering = members.filter((member) => member.healthy).length;
  if (answering < majority(members.length)) {
    return `for any change ${majority(members.length)} of ${members.length} must answer, and ${answering} do; start the missing ones first`;
  }
  const healthy = left.filter((member) => member.healthy).length;
  const needed = majority(left.length);
  if (healthy >= needed) return null;
  return `without it ${needed} of ${left.length} must answer, and ${healthy} do; repair or replace a member first`;
}

type Ballot = Pick<EtcdMember, "id" | "name" | "peerUrls" | "healthy" | "learner">;

const majority = (members: number): number => Math.floor(members / 2) + 1;

const hex = (id: bigint): string => id.toString(16);

function describe(member: Member, status: StatusResponse | null, answers: boolean): EtcdMember {
  return {
    id: hex(member.id),
    name: member.name,
    learner: member.isLearner,
    peerUrls: member.peerUrls,
    clientUrls: member.clientUrls,
    healthy: status === null ? answers : status.leader !== 0n,
    leader: status !== null && status.leader === member.id,
    version: status?.version ?? null,
    raftTerm: status === null ? null : Number(status.raftTerm),
    raftIndex: status === null ? null : Number(status.raftIndex),
    databaseBytes: status === null ? null : Number(status.dbSize),
  };
}

/** Returns host:port of the peer URL of a member. */
export const addressOf = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
