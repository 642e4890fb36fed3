// E3: backfilled work ends, by its requested walltime, before a reserved start needs its nodes. The check covers each
// plan as it was made; later faults are not the plan's fault.

import type { View } from "@lattice/core";
import type { ObserveCycle } from "@lattice/server";
import type { World } from "../world/world.ts";

type CycleResult = Parameters<ObserveCycle>[1];

export interface BackfillCheck {
  cycle(view: View, result: CycleResult, nowMs: number): void;
  readonly counts: { cyclesWithPromises: number; placedBesidePromises: number };
}

export function backfillCheck(world: World): BackfillCheck {
  const counts = { cyclesWithPromises: 0, placedBesidePromises: 0 };
  return {
    counts,
    cycle(view, { reservations, placements }, nowMs) {
      if (reservations.length === 0) return;
      counts.cyclesWithPromises += 1;
      for (const { allocation, nodes } of placements) {
        counts.placedBesidePromises += 1;
        const walltime = view.allocation(allocation)?.spec.lifecycle.walltime ?? null;
        const endsAt = walltime === null ? Number.POSITIVE_INFINITY : nowMs + walltime;
        for (const promise of reservations) {
          if (promise.allocation === allocation || endsAt <= promise.startsAt) continue;
          const taken = nodes.find((node) => promise.nodes.includes(node));
          if (taken !== undefined)
            world.violated(
              "E3",
              `${allocation} was placed on ${taken} until ${endsAt}, which ${promise.allocation} was promised for ${promise.startsAt}`,
            );
        }
      }
    },
  };
}
