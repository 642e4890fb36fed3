// Lists the servers of the cluster as etcd knows them at this moment: the connected ones and the configured ones.

import type { LogMember, LogServer } from "../contract/replicated-log.ts";
import { asLogError } from "./as-log-error.ts";
import type { EtcdClient } from "./client/client.ts";
import type { Keys } from "./keys.ts";
import { LogMetadata } from "./metadata.ts";

export async function listMembers(
  client: EtcdClient,
  keys: Keys,
  expected: readonly LogServer[],
): Promise<readonly LogMember[]> {
  const metadata = new LogMetadata(keys, () => undefined);
  try {
    const { kvs, header } = await client.range({ ...keys.meta });
    metadata.replace(kvs, header?.revision ?? 0n);
  } catch (cause) {
    throw asLogError(cause, "listing the servers");
  }
  const leader = metadata.leader()?.server ?? null;
  const present = [...metadata.servers()].map(([id, name]) => ({ id, name, leader: id === leader, healthy: true }));
  const absent = expected
    .filter(({ id }) => !metadata.servers().has(id))
    .map(({ id, name }) => ({ id, name, leader: false, healthy: false }));
  return [...present, ...absent].sort((a, b) => (a.id < b.id ? -1 : 1));
}
