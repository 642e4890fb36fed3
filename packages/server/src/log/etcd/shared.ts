// The etcd engine's side of sharing: which servers belong to the cluster is kept next to the log, since
// etcd itself knows its members by names of their own, and one that was never started by no name at
// all. A member is found by the address at which it speaks with the others.

import type { EtcdMember, SharedLog } from "../shared-log.ts";
import { put, remove } from "./append.ts";
import type { EtcdClient } from "./client/client.ts";
import { type EtcdCluster, refuseRemove } from "./cluster.ts";
import type { Facts } from "./facts.ts";
import type { Keys } from "./keys.ts";
import { addressOf } from "./managed/announce.ts";

const TIMEOUT_MS = 2_000;
/** One that is merely slow is not counted as lost. */
const PATIENCE_MS = 4_000;
/** Long enough for the favoured server to notice; when it does not, anyone leads after it. */
const FAVOUR_SECONDS = 2;

export interface SharedOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly facts: Facts;
  readonly cluster: EtcdCluster;
  /** Of the member that this server runs; null: it runs none. */
  readonly ownEndpoint: string | null;
  readonly secured: boolean;
}

export function createShared({ client, keys, facts, cluster, ownEndpoint, secured }: SharedOptions): SharedLog {
  const forget = async (server: string): Promise<void> => {
    const words = [remove({ key: keys.member(server) }), remove({ key: keys.server(server) })];
    await client.txn({ success: words }, TIMEOUT_MS);
  };
  return {
    managed: ownEndpoint !== null,
    known: () => [...facts.members()].map(([id, peer]) => ({ id, peer })),
    ownMember: async () => (ownEndpoint === null ? null : cluster.memberAt(ownEndpoint)),
    members: cluster.members,
    async add({ id, peer }) {
      // First: with one more member, not started yet, there may be no majority to write it with.
      const written = facts.members().get(id) === peer;
      if (!written) await client.txn({ success: [put(keys.member(id), Buffer.from(peer))] }, TIMEOUT_MS);
      return cluster.add(`${secured ? "https" : "http"}://${peer}`);
    },
    refuseRemove: async (member) => refuseRemove(await cluster.members(PATIENCE_MS), member.id),
    async remove(member) {
      if (member.leader) await leadElsewhere(cluster, member);
      const members = await cluster.remove(member.id);
      const servers = [...facts.members()].filter(([, peer]) => speaksAt(member, peer));
      // Whoever was removed through its own member may be cut off by now; without a member it counts no more.
      for (const [server] of servers) await forget(server).catch(() => undefined);
      return members;
    },
    forget,
    async favour(server) {
      const { id } = await client.leaseGrant(FAVOUR_SECONDS);
      await client.txn({ success: [put(keys.favoured, Buffer.from(server), id)] }, TIMEOUT_MS);
    },
  };
}

/** Spares the cluster an election of etcd. Only its own server reaches a member that serves loopback. */
async function leadElsewhere(cluster: EtcdCluster, member: EtcdMember): Promise<void> {
  const other = (await cluster.members()).find(({ id, healthy }) => healthy && id !== member.id);
  if (other !== undefined) await cluster.moveLeader(other.id).catch(() => undefined);
}

/** `peer`: host:port. */
export const speaksAt = (member: Pick<EtcdMember, "peerUrls">, peer: string): boolean =>
  member.peerUrls.some((url) => addressOf(url) === peer);
