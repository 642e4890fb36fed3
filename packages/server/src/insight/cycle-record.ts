// What the cycles of each vCluster came to since this server leads: how many, how long, how many placements and
// refusals. Figures for people who wonder whether the scheduler is at work; not in the log.

import type { AllocationId, Instant, VClusterId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { PlanResult } from "../observe/scheduling.ts";
import type { CycleFigures } from "./question.ts";

type Tally = { -readonly [K in Exclude<keyof CycleFigures, "vcluster" | "waiting">]: CycleFigures[K] };

export interface CycleRecord {
  took(result: CycleResult, seconds: number, at: Instant): void;
  planned(vcluster: VClusterId, result: PlanResult): void;
  preempted(vcluster: VClusterId): void;
  /** When it last looked there; null: not yet. */
  lastAt(vcluster: VClusterId): Instant | null;
  figures(view: View, cycles: ReadonlyMap<VClusterId, CycleResult>): readonly CycleFigures[];
  forget(): void;
}

export function createCycleRecord(): CycleRecord {
  const tallies = new Map<VClusterId, Tally>();
  return {
    took(result, seconds, at) {
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
    planned(vcluster, { accepted, rejected }) {
      const tally = tallies.get(vcluster);
      if (tally === undefined) return;
      tally.placements += accepted;
      for (const count of rejected.values()) tally.refused += count;
    },
    preempted(vcluster) {
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

/** Reports are added to, so some in them wait no longer. */
function reasonsOf(view: View, result: CycleResult | undefined): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const waits = (id: AllocationId): boolean => view.allocation(id)?.phase.kind === "pending";
  for (const [id, [first]] of result?.reasons ?? []) {
    if (first !== undefined && waits(id)) counts[first.code] = (counts[first.code] ?? 0) + 1;
  }
  return counts;
}
