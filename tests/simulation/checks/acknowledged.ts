// Rules at the end and for every leader: each acknowledged submission exists, and once faults and submissions have
// stopped, all work has finished.

import { dagState, hasGroupEnded, isFinal } from "@lattice/core";
import type { Cluster } from "../cluster.ts";
import type { SimulatedServer } from "../servers/server.ts";

/** S7: every acknowledged submission is in the leader's state, or in its history. */
export function checkAcknowledged({ world, users, servers }: Cluster, leader: SimulatedServer): void {
  const replica = leader.life()?.replica;
  if (replica === null || replica === undefined) return;
  for (const [id, name] of users.acknowledged) {
    const record = replica.view.allocation(id) ?? replica.view.group(id);
    if (record !== undefined && record.spec.name === name) continue;
    if (record !== undefined) world.violated("S7", `${id} is ${record.spec.name}, acknowledged as ${name}`);
    else if (!servers.some((server) => server.remembers(id)))
      world.violated("S7", `${id} (${name}) is in no history and unknown to ${leader.name}`);
  }
}

/** The same for DAGs, which stay in the state for long. */
export function checkDags({ world, users }: Cluster, leader: SimulatedServer): void {
  const view = leader.life()?.replica?.view;
  if (view === undefined) return;
  for (const id of users.dags)
    if (view.dag(id) === undefined) world.violated("S7", `${id} is unknown to ${leader.name}`);
}

/** Reasons why the cluster is not finished; empty when it is. */
export function unfinishedWork({ leader, nodes, ledger, watchers }: Cluster): readonly string[] {
  const replica = leader()?.life()?.replica;
  if (replica === null || replica === undefined) return ["no server leads"];
  const { view } = replica;
  const left: string[] = [];
  for (const record of view.allocations()) {
    if (!isFinal(record.phase))
      left.push(`allocation ${record.id} is ${record.phase.kind} (attempt ${record.attempt})`);
  }
  for (const group of view.groups()) {
    if (!hasGroupEnded(group.phase)) left.push(`task group ${group.id} is ${group.phase.kind}`);
  }
  for (const dag of view.dags()) if (dagState(dag) === "running") left.push(`${dag.id} is running`);
  for (const node of view.nodes()) {
    if (node.state.kind !== "ready") left.push(`node ${node.id} is ${node.state.kind}`);
    for (const claim of node.claims) left.push(`node ${node.id} is claimed by ${claim.allocation}.${claim.attempt}`);
  }
  if (view.nodeCount !== nodes.length) left.push(`${view.nodeCount} of ${nodes.length} nodes are known`);
  for (const { name, machine } of nodes) {
    for (const process of machine.live()) left.push(`${process.key} is alive on ${name}`);
    for (const key of machine.attempts.keys()) left.push(`${key} is not forgotten on ${name}`);
  }
  for (const watcher of watchers) left.push(...(watcher.left?.(view) ?? []));
  if (ledger.counts.entries === 0) left.push("nothing was ever written");
  return left;
}

/**
 * Acknowledged submissions that have left the live state and are missing in the history of a server that was down at
 * that time. Counted but not a violation: another server's history has them.
 */
export function missingFromHistories({ users, servers }: Cluster): number {
  let missing = 0;
  for (const server of servers) {
    const view = server.life()?.replica?.view;
    if (view === undefined) continue;
    for (const id of users.acknowledged.keys()) {
      if (view.allocation(id) === undefined && view.group(id) === undefined && !server.historyDisk.records.has(id))
        missing += 1;
    }
  }
  return missing;
}
