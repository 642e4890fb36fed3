// Conditions that must hold soon after a node and the leader have an undisturbed connection: the leader knows an end,
// the agent has its order, and no orphaned process runs. Walltimes and reconnects would repair all of it eventually,
// which is too late.

import { isPlaced, mayUseFabric, type View } from "@lattice/core";
import type { Cluster } from "../cluster.ts";
import type { Folder, Machine } from "../nodes/machine.ts";
import type { SimulatedNode } from "../nodes/node.ts";
import { programOf } from "../nodes/program.ts";
import type { SimulatedServer } from "../servers/server.ts";

export interface Settled {
  look(cluster: Cluster): void;
}

/** From the end of a process to the leader's knowledge of it, including retries. */
const END_MS = 20_000;
/** An order is repeated after 15 s, checked every five, and may be lost more than once. */
const ORDER_MS = 36_000;
/** Time for signals and disks. */
const SLACK_MS = 8_000;
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 30_000;

export function createSettled(): Settled {
  /** Since when each node and the leader have a connection, and which stream it is. */
  const calm = new Map<string, { readonly over: object; readonly sinceMs: number }>();
  /** Open conditions, and since when. */
  let amiss = new Map<string, number>();

  return {
    look(cluster) {
      const { world, nodes } = cluster;
      const leader = undisturbed(cluster);
      const before = amiss;
      amiss = new Map();
      for (const node of nodes) {
        const over = leader === null ? null : talking(cluster, node, leader);
        const known = calm.get(node.name);
        if (over === null || leader === null) {
          calm.delete(node.name);
          continue;
        }
        const sinceMs = known?.over === over ? known.sinceMs : world.now();
        if (known?.over !== over) calm.set(node.name, { over, sinceMs });
        const view = leader.life()?.replica?.view;
        if (view === undefined) continue;
        for (const { rule, what, withinMs } of troubles(view, node)) {
          const from = Math.max(before.get(what) ?? world.now(), sinceMs);
          amiss.set(what, from);
          if (world.now() - from > withinMs) world.violated(rule, `${what}, after ${world.now() - from} quiet ms`);
        }
      }
    },
  };
}

/** The leader, if it can reach the log. */
function undisturbed({ leader, store, logFaultRates }: Cluster): SimulatedServer | null {
  const server = leader();
  const life = server?.life() ?? null;
  if (server === null || life === null || life.host.paused() || life.wire.away()) return null;
  if (store.election.leader()?.candidate !== life.host.name) return null;
  return logFaultRates.slowMs > 0 || logFaultRates.lossBefore > 0 ? null : server;
}

/** The stream between them; `null` when they cannot communicate. */
function talking({ network }: Cluster, node: SimulatedNode, leader: SimulatedServer): object | null {
  if (node.agent() === null || node.machine.full) return null;
  return network.whole(node.name, leader.name);
}

interface Amiss {
  readonly rule: string;
  readonly what: string;
  readonly withinMs: number;
}

function* troubles(view: View, { name, machine }: SimulatedNode): Generator<Amiss> {
  const record = view.node(name as never);
  if (record === undefined) return;
  const claimed = new Map<string, boolean>();
  for (const { allocation, attempt, releasing } of record.claims) {
    const key = `${allocation}.${attempt}`;
    claimed.set(key, releasing);
    const holder = view.allocation(allocation);
    const phase = holder?.phase;
    if (releasing || holder === undefined || phase === undefined || !isPlaced(phase)) continue;
    const state = phase.progress[phase.nodes.indexOf(record.id)]?.state;
    const folder = machine.attempts.get(key);
    // Work that waits for the fabric has no order yet.
    const ordered = state === "ordered" && mayUseFabric(view, holder, record.id);
    if (ordered && folder === undefined && !machine.ended.has(key))
      yield { rule: "orders", what: `the order of ${key} was never heard on ${name}`, withinMs: ORDER_MS };
    if (state !== "completed" && state !== "failed" && folder !== undefined && isOver(machine, folder))
      yield { rule: "D7", what: `${key} has ended on ${name} and the leader does not know`, withinMs: END_MS };
  }
  for (const { key, order } of machine.live()) {
    const releasing = claimed.get(key);
    if (releasing === false) continue;
    // A stop is repeated while there is a claim; without one, the node received it at its reconnect.
    const orders = releasing === true ? ORDER_MS : 0;
    const ends = programOf(order.entrypoint).stopsMs === null ? GRACE_MS : 0;
    const where = releasing === true ? "though it is to end" : "where it has no claim";
    yield { rule: "D2", what: `${key} still runs on ${name}, ${where}`, withinMs: orders + ends + SLACK_MS };
  }
}

const isOver = (machine: Machine, { pid, end }: Folder): boolean =>
  end !== null || (pid !== null && !machine.wrapperAlive(pid));
