// Statistics of the cycles of each vCluster since this server leads: count, duration, placements and refusals. Not in
// the log.

import type { AllocationId, Instant, VClusterId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { PlanResult } from "../../base/observe/scheduling.ts";
import type { CycleFigures } from "./question.ts";

type Tally = { -readonly [K in Exclude<keyof CycleFigures, "vcluster" | "waiting">]: CycleFigures[K] };

export interface CycleStatistics {
  recordCycle(result: CycleResult, seconds: number, at: Instant): void;
  recordPlan(vcluster: VClusterId, result: PlanResult): void;
  recordPreemption(vcluster: VClusterId): void;
  /** Returns the time of the last cycle, or `null`. */
  lastAt(vcluster: VClusterId): Instant | null;
  figures(view: View, cycles: ReadonlyMap<VClusterId, CycleResult>): readonly CycleFigures[];
  forget(): void;
}

export function createCycleStatistics(): CycleStatistics {
  const tallies = new Map<VClusterId, Tally>();
  return {
    recordCycle(result, seconds, at) {
      const known = tallies.get(result.vcluster);
      tallies.set(result.vcluster, {
        cycles: (known?.cycles ?? 0) + 1,
        lastAt: at,
        lastSeconds: seconds,
        longestSeconds: Math.max(known?.longestSeconds ?? 0, seconds),
        considered: result.considered,
        reservations: result.reservations.length,
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
    lastAt: (vcluster) => tallies.get(vcluster)?.lastAt ?? null,
    figures: (view, cycles) =>
      [...tallies]
        .filter(([vcluster]) => view.vcluster(vcluster) !== undefined)
        .map(([vcluster, tally]) => ({ vcluster, ...tally, waiting: reasonsOf(view, cycles.get(vcluster)) })),
    forget: () => tallies.clear(),
  };
}

/** A report may still contain allocations that are no longer pending. */
function reasonsOf(view: View, result: CycleResult | undefined): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const waits = (id: AllocationId): boolean => view.allocation(id)?.phase.kind === "pending";
  for (const [id, [first]] of result?.reasons ?? []) {
    if (first !== undefined && waits(id)) counts[first.code] = (counts[first.code] ?? 0) + 1;
  }
  return counts;
}
