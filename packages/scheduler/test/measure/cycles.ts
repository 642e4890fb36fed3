// Scheduling cycles on a cluster of one size, everything on: topology, conformance, reservations, quotas,
// budgets. Every cycle takes a new snapshot. Then the same with reasons, estimates and scores
// for everyone who waits.

import { cycle, snapshotFor } from "../../src/index.ts";
import { clusterOf, NOW, type Shape } from "./cluster.ts";

export interface CyclesWanted extends Shape {
  /** A leader's loop is warm; the very first cycle is reported separately. */
  readonly warmUp: number;
  readonly rounds: number;
}

export interface Cycles {
  readonly firstMs: number;
  readonly snapshotMs: readonly number[];
  readonly cycleMs: readonly number[];
  readonly fullMs: readonly number[];
  /** The most that a round added to what the cluster itself takes. */
  readonly memoryBytes: number;
  readonly told: string;
}

export function measureCycles({ nodes, pending, warmUp, rounds }: CyclesWanted): Cycles {
  const { state, vcluster } = clusterOf({ nodes, pending });
  const before = inUse();
  const [snapshotMs, cycleMs, fullMs]: [number[], number[], number[]] = [[], [], []];
  let firstMs = Number.NaN;
  let most = before;
  let told = "";
  for (let round = -warmUp; round < rounds; round += 1) {
    const began = performance.now();
    const input = snapshotFor(state, vcluster, NOW);
    const taken = performance.now();
    const brief = cycle(input);
    const planned = performance.now();
    const full = cycle({ ...input, report: "full" });
    const done = performance.now();
    if (Number.isNaN(firstMs)) firstMs = planned - began;
    most = Math.max(most, inUse());
    told = `${brief.placements.length} placed, ${brief.reservations.length} reserved, ${full.estimates.size} estimated, ${full.reasons.size} explained`;
    if (round < 0) continue;
    snapshotMs.push(taken - began);
    cycleMs.push(planned - taken);
    fullMs.push(done - planned);
  }
  return { firstMs, snapshotMs, cycleMs, fullMs, memoryBytes: most - before, told };
}

function inUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
