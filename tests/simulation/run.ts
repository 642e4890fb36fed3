// One run: a seed, a length, and the enabled faults. First the cluster works under faults; then faults and submissions
// stop, and everything must finish. Returns the counts and the violations.

import { checkAcknowledged, checkDags, unfinishedWork } from "./checks/acknowledged.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { FAULT_KINDS, startFaults } from "./faults/faults.ts";
import { type Report, reportOf } from "./report.ts";
import { forbidRealTime, turn } from "./world/guard.ts";
import { listenToLogs } from "./world/logger.ts";
import { createWorld } from "./world/world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly kinds?: readonly string[];
  readonly nodes?: number;
  /** Factor for the time between two requests of a user. Default: 1. */
  readonly pace?: number;
  readonly onNote?: (atMs: number, text: string) => void;
  /** Kinds of users that do not work. Default: all work. */
  readonly withoutUsers?: readonly string[];
  /** Reports a violation after this many faults of a kind, for tests of shrinking. */
  readonly violate?: { readonly kind: string; readonly times: number } | null;
  /** False: the run stops before everything has finished, for searches of an earlier violation. */
  readonly toTheEnd?: boolean;
}

const SERVERS = 3;
const NODES = 32;
const NODES_PER_GROUP = 8;
const MINUTE_MS = 60_000;
/** Walltimes and requeues of the remaining work, and the longest time until a node reconnects. */
const END_MINUTES = 90;
const WATCH_MS = 100;
/** Interval at which completion is checked. */
const LOOK_MS = 10_000;
/** Faults heal within this time. */
const HEAL_MS = 160_000;

export async function simulate(options: RunOptions): Promise<Report> {
  const { seed, minutes, kinds = FAULT_KINDS, pace = 1, onNote = null, violate = null, toTheEnd = true } = options;
  listenToLogs(onNote !== null);
  const guard = forbidRealTime();
  const stray: unknown[] = [];
  const onStray = (reason: unknown): void => void stray.push(reason);
  process.on("unhandledRejection", onStray);
  try {
    const world = createWorld({ seed, turn, onNote });
    const cluster = createCluster(world, {
      servers: SERVERS,
      nodes: options.nodes ?? NODES,
      nodesPerGroup: NODES_PER_GROUP,
      pace,
      withoutUsers: options.withoutUsers ?? [],
    });
    const faults = startFaults(cluster, new Set(kinds));
    watchLeaders(cluster);
    if (violate !== null) watchFaults(cluster, violate);
    cluster.users.begin();
    await world.runUntil(minutes * MINUTE_MS);
    faults.stop();
    cluster.users.stop();
    if (toTheEnd) await end(cluster);
    for (const offence of guard.offences()) world.violated("determinism", offence);
    for (const reason of stray)
      world.violated("stray", reason instanceof Error ? (reason.stack ?? reason.message) : String(reason));
    const report = reportOf(cluster, { seed, minutes, kinds, pace });
    cluster.close();
    await turn();
    return report;
  } finally {
    process.off("unhandledRejection", onStray);
    guard.lift();
  }
}

/** Every leader is checked for acknowledged submissions, at its start and periodically. */
function watchLeaders(cluster: Cluster): void {
  const { world, servers, store } = cluster;
  let rounds = 0;
  const leading = new Set<string>();
  const look = (): void => {
    world.after(500, look);
    rounds += 1;
    for (const server of servers) {
      // A server that has lost the election without knowing it is not a leader.
      if (!server.leads() || store.election.leader()?.candidate !== server.life()?.host.name) {
        leading.delete(server.name);
        continue;
      }
      if (leading.has(server.name) && rounds % 120 !== 0) continue;
      leading.add(server.name);
      checkAcknowledged(cluster, server);
      checkDags(cluster, server);
    }
  };
  look();
}

function watchFaults(
  { world, faults }: Cluster,
  { kind, times }: { readonly kind: string; readonly times: number },
): void {
  const look = (): void => {
    world.after(WATCH_MS, look);
    if ((faults.get(kind) ?? 0) >= times) world.violated("made_up", `${kind} has struck ${times} times`);
  };
  look();
}

async function end(cluster: Cluster): Promise<void> {
  const { world, users } = cluster;
  await world.runUntil(world.now() + HEAL_MS);
  const last = world.now() + END_MINUTES * MINUTE_MS;
  while (world.violation() === null) {
    const left = unfinishedWork(cluster);
    if (left.length === 0) break;
    world.output(`left: ${left.slice(0, 4).join("; ")}${left.length > 4 ? ` and ${left.length - 4} more` : ""}`);
    if (world.now() >= last) {
      world.violated("E9", `${left.length} things are left undone: ${left.slice(0, 6).join("; ")}`);
      break;
    }
    const view = cluster.leader()?.life()?.replica?.view;
    if (view !== undefined) users.tidyUp(view);
    await world.runUntil(world.now() + LOOK_MS);
  }
  const leader = cluster.leader();
  if (leader !== null) checkAcknowledged(cluster, leader);
  if (leader !== null) checkDags(cluster, leader);
  for (const server of cluster.servers) {
    const replica = server.life()?.replica;
    if (replica !== null && replica !== undefined) cluster.ledger.checkAll(server.name, replica);
  }
}
