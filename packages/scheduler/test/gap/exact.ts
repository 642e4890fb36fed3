// The best that could be started, by searching all sets of allocations. A set fits when every set of kinds of
// hardware has nodes enough for jobs that can use nothing else (Hall's condition). The value of a plan is the sum over
// its starts of the score that orders the queue times the nodes.

import { fits } from "@lattice/core";
import { toJob } from "../../src/fit/job.ts";
import type { CycleInput } from "../../src/index.ts";
import { cycle } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { scoreBasis, totalMilli } from "../../src/score/score.ts";

/** The gap between the scheduler's plan and the best one, in [0, 1]. */
export function gapOf(input: CycleInput): number {
  const placed = new Set(cycle(input).placements.map(({ allocation }) => allocation));
  const machine = machineOf(input);
  const basis = scoreBasis(input, machine);
  const values = input.pending.map((each) => totalMilli(basis, toJob(machine, each, input.signals)) * each.minNodes);
  const greedy = input.pending.reduce((sum, { id }, at) => sum + (placed.has(id) ? (values[at] ?? 0) : 0), 0);
  const best = bestValue(input, values);
  return best === 0 ? 0 : 1 - greedy / best;
}

function bestValue(input: CycleInput, values: readonly number[]): number {
  const kindOf = (gpus: number, features: readonly string[]): number =>
    (gpus > 0 ? 1 : 0) + (features.length > 0 ? 2 : 0);
  const supply = new Int32Array(4);
  const sample = new Map<number, CycleInput["nodes"][number]>();
  for (const node of input.nodes) {
    const kind = kindOf(node.gpuCount, node.features);
    supply[kind] = (supply[kind] ?? 0) + 1;
    sample.set(kind, node);
  }
  const jobs = input.pending.map(({ constraints, minNodes }) => {
    let kinds = 0;
    for (const [kind, node] of sample) if (fits(constraints, node.id, node)) kinds |= 1 << kind;
    return { kinds, minNodes };
  });
  const within = Array.from({ length: 16 }, (_, set) =>
    supply.reduce((sum, nodes, kind) => sum + ((set >> kind) & 1 ? nodes : 0), 0),
  );
  const order = [...jobs.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  const after = order.map((_, at) => order.slice(at).reduce((sum, job) => sum + (values[job] ?? 0), 0));
  const demand = new Int32Array(16);
  let best = 0;
  /** With and without each, the most valuable first; given up where even all of the rest would not do. */
  const search = (at: number, value: number): void => {
    best = Math.max(best, value);
    const job = order[at];
    if (job === undefined || value + (after[at] ?? 0) <= best) return;
    const { kinds, minNodes } = jobs[job] ?? { kinds: 0, minNodes: 0 };
    charge(demand, kinds, minNodes);
    if (demand.every((nodes, set) => nodes <= (within[set] ?? 0))) search(at + 1, value + (values[job] ?? 0));
    charge(demand, kinds, -minNodes);
    search(at + 1, value);
  };
  search(0, 0);
  return best;
}

/** Counts towards every set of kinds outside which it can use nothing. */
function charge(demand: Int32Array, kinds: number, nodes: number): void {
  for (let set = 0; set < demand.length; set += 1) if ((kinds & ~set) === 0) demand[set] = (demand[set] ?? 0) + nodes;
}
