// etcd's own members, and changing who they are. Each change is safe: it is refused when it could
// leave the cluster without a majority of members that answer. One change at a time.

import { setTimeout as sleep } from "node:timers/promises";
import type { Member, StatusResponse } from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { EtcdTls } from "./client/channel.ts";
import { createEtcdClient, type EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";

const STATUS_TIMEOUT_MS = 1_000;
/** etcd changes nothing before its members have been connected for five seconds. */
const CHANGE_TIMEOUT_MS = 10_000;
const RETRY_MS = 500;

export interface EtcdMember {
  /** Hexadecimal, as etcd's own tools write it. */
  readonly id: string;
  /** Empty: added, never started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  /** Whether it answers where it says it does. */
  readonly healthy: boolean;
  /** Leads etcd, which is not the same as leading Lattice. */
  readonly leader: boolean;
  readonly version: string | null;
  readonly raftTerm: number | null;
  readonly raftIndex: number | null;
  readonly databaseBytes: number | null;
}

export interface EtcdCluster {
  members(): Promise<readonly EtcdMember[]>;
  /** Tells the cluster of a member that will be started at this peer address. */
  add(peerUrl: string): Promise<readonly EtcdMember[]>;
  /** Refused when what is left would not have a majority that answers. */
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
  const look = async (member: Member): Promise<EtcdMember> =>
    describe(member, await at(member, (own) => own.status(STATUS_TIMEOUT_MS)).catch(() => null));
  const members = async (): Promise<readonly EtcdMember[]> => Promise.all((await client.memberList()).map(look));
  const find = async (id: string): Promise<Member> => {
    const member = (await client.memberList()).find((one) => hex(one.id) === id);
    if (member === undefined) throw new EtcdError("not_found", `no member of etcd has the id ${id}`);
    return member;
  };

  return {
    members,
    async add(peerUrl) {
      const known = await members();
      if (known.some((member) => member.peerUrls.includes(peerUrl))) return known;
      const refusal = refuseAdd(known);
      if (refusal !== null) throw new EtcdError("refused", refusal);
      await whenSteady(() => client.memberAdd(peerUrl));
      return members();
    },
    async remove(id) {
      const member = await find(id);
      const refusal = refuseRemove(await members(), id);
      if (refusal !== null) throw new EtcdError("refused", refusal);
      await whenSteady(() => client.memberRemove(member.id));
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

/** Refused so, nothing has been changed. */
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

/** One more member raises the majority before it helps to form one. Null: it may be added. */
export function refuseAdd(members: readonly Pick<EtcdMember, "healthy">[]): string | null {
  const healthy = members.filter((member) => member.healthy).length;
  const needed = majority(members.length + 1);
  if (healthy >= needed || members.length <= 1) return null;
  return `with one more member ${needed} must answer, and ${healthy} do; repair or remove a member first`;
}

/** Null: it may be removed. */
export function refuseRemove(members: readonly Pick<EtcdMember, "id" | "healthy">[], id: string): string | null {
  const left = members.filter((member) => member.id !== id);
  if (left.length === 0) return "it is the last member";
  const healthy = left.filter((member) => member.healthy).length;
  const needed = majority(left.length);
  return healthy >= needed ? null : `without it ${needed} of ${left.length} must answer, and ${healthy} do`;
}

const majority = (members: number): number => Math.floor(members / 2) + 1;

const hex = (id: bigint): string => id.toString(16);

function describe(member: Member, status: StatusResponse | null): EtcdMember {
  return {
    id: hex(member.id),
    name: member.name,
    peerUrls: member.peerUrls,
    clientUrls: member.clientUrls,
    healthy: status !== null && status.leader !== 0n,
    leader: status !== null && status.leader === member.id,
    version: status?.version ?? null,
    raftTerm: status === null ? null : Number(status.raftTerm),
    raftIndex: status === null ? null : Number(status.raftIndex),
    databaseBytes: status === null ? null : Number(status.dbSize),
  };
}
