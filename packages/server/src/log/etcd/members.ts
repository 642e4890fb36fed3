// The servers of the cluster, as etcd knows them at this moment: those that are there, and those that
// ought to be.

import type { LogMember, LogServer } from "../replicated-log.ts";
import { asLogError } from "./as-log-error.ts";
import type { EtcdClient } from "./client/client.ts";
import { createFacts } from "./facts.ts";
import type { Keys } from "./keys.ts";

export async function listMembers(
  client: EtcdClient,
  keys: Keys,
  expected: readonly LogServer[],
): Promise<readonly LogMember[]> {
  const facts = createFacts(keys, () => undefined);
  try {
    const { kvs, header } = await client.range({ ...keys.meta });
    facts.replace(kvs, header?.revision ?? 0n);
  } catch (cause) {
    throw asLogError(cause, "listing the servers");
  }
  const leader = facts.leader()?.server ?? null;
  const present = [...facts.servers()].map(([id, name]) => ({ id, name, leader: id === leader, healthy: true }));
  const absent = expected
    .filter(({ id }) => !facts.servers().has(id))
    .map(({ id, name }) => ({ id, name, leader: false, healthy: false }));
  return [...present, ...absent].sort((a, b) => (a.id < b.id ? -1 : 1));
}
