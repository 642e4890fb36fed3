// Membership of a log shared through etcd. The list of servers is stored next to the log, because etcd knows its
// members by other names, and a member that was never started by none. A member is identified by its peer address.

import type { EtcdMember, SharedLog } from "../contract/shared-log.ts";
import { put, remove } from "./append.ts";
import type { EtcdClient } from "./client/client.ts";
import { addressOf, type EtcdCluster, refuseRemove } from "./cluster.ts";
import type { Keys } from "./keys.ts";
import type { LogMetadata } from "./metadata.ts";

const TIMEOUT_MS = 2_000;
/** A slow member is not counted as lost. */
const PATIENCE_MS = 4_000;
/** Long enough for the preferred server to notice; afterwards any server may lead. */
const FAVOUR_SECONDS = 2;

interface SharedOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly metadata: LogMetadata;
  readonly cluster: EtcdCluster;
  /** Endpoint of the member that this server runs; `null` when it runs none. */
  readonly ownEndpoint: string | null;
  readonly securedPeers: boolean;
}

export function createShared({ client, keys, metadata, cluster, ownEndpoint, securedPeers }: SharedOptions): SharedLog {
  const forget = async (server: string): Promise<void> => {
    const words = [remove({ key: keys.member(server) }), remove({ key: keys.server(server) })];
    await client.txn({ success: words }, TIMEOUT_MS);
  };
  return {
    managed: ownEndpoint !== null,
    known: () => [...metadata.members()].map(([id, peer]) => ({ id, peer })),
    ownMember: async () => (ownEndpoint === null ? null : cluster.memberAt(ownEndpoint)),
    members: cluster.members,
    async add({ id, peer }) {
      // Written first: a member of etcd that no server is known for would be listed by its address.
      const written = metadata.members().get(id) === peer;
      if (!written) await client.txn({ success: [put(keys.member(id), Buffer.from(peer))] }, TIMEOUT_MS);
      return cluster.add(`${securedPeers ? "https" : "http"}://${peer}`);
    },
    refuseRemove: async (member) => refuseRemove(await cluster.members(PATIENCE_MS), member.id),
    async remove(member) {
      if (member.leader) await leadElsewhere(cluster, member);
      const members = await cluster.remove(member.id);
      const servers = [...metadata.members()].filter(([, peer]) => speaksAt(member, peer));
      // A server that removed its own member may be disconnected by now; without a member it is not counted.
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

/** Avoids an election of etcd. Only its own server reaches a member that serves loopback. */
async function leadElsewhere(cluster: EtcdCluster, member: EtcdMember): Promise<void> {
  const other = (await cluster.members()).find(({ id, healthy }) => healthy && id !== member.id);
  if (other !== undefined) await cluster.moveLeader(other.id).catch(() => undefined);
}

/** `peer`: host:port. */
export const speaksAt = (member: Pick<EtcdMember, "peerUrls">, peer: string): boolean =>
  member.peerUrls.some((url) => addressOf(url) === peer);
