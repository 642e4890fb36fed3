// Statistics of the cycles of each vCluster since this server leads: count, duration, placements and refusals. Not in
// the log.

import type { VClusterId, View } from "@lattice/core";
import type { PlanResult } from "../../base/observe/scheduling.ts";
import type { PublishedCycle } from "../planner/published.ts";
import type { CycleFigures } from "./question.ts";

type Tally = { -readonly [K in Exclude<keyof CycleFigures, "vcluster" | "waiting">]: CycleFigures[K] };

interface CycleStatistics {
  recordCycle(cycle: PublishedCycle): void;
  recordPlan(vcluster: VClusterId, result: PlanResult): void;
  recordPreemption(vcluster: VClusterId): void;
  /** `waiting`: pending allocations of each vCluster by their first reason. */
  figures(view: View, waiting: ReadonlyMap<VClusterId, CycleFigures["waiting"]>): readonly CycleFigures[];
  forget(): void;
}

export function createCycleStatistics(): CycleStatistics {
  const tallies = new Map<VClusterId, Tally>();
  return {
    recordCycle({ vcluster, at, costMs, considered, reservations }) {
      const known = tallies.get(vcluster);
      const seconds = costMs / 1000;
      tallies.set(vcluster, {
        cycles: (known?.cycles ?? 0) + 1,
        lastAt: at,
        lastSeconds: seconds,
        longestSeconds: Math.max(known?.longestSeconds ?? 0, seconds),
        considered,
        reservations: reservations.length,
        placements: known?.placements ?? 0,
        refused: known?.refused ?? 0,
        preemptions: known?.preemptions ?? 0,
      });
    },
    recordPlan(vcluster, { accepted, rejected }) {
      const tally = tallies.get(vcluster);
      if (tally === undefined) return;
      tally.placements += accepted;
      for (const count of rejected.values()) tally.refused += count;
    },
    recordPreemption(vcluster) {
      const tally = tallies.get(vcluster);
      if (tally !== undefined) tally.preemptions += 1;
    },
    figures: (view, waiting) =>
      [...tallies]
        .filter(([vcluster]) => view.vcluster(vcluster) !== undefined)
        .map(([vcluster, tally]) => ({ vcluster, ...tally, waiting: waiting.get(vcluster) ?? {} })),
    forget: () => tallies.clear(),
  };
}
