// Which kinds of hardware an allocation should leave to others: the kinds with the highest demand per node. A request
// that any node can serve then does not occupy the GPUs that the next one needs.

import { TIER_LIMIT } from "../base/bounds.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import type { Machine } from "../machine/machine.ts";
import type { Match, MatchingHardware } from "../machine/match.ts";
import { matchFor } from "./candidates.ts";

export interface HardwareTiers {
  /** Returns its cells without the kinds in highest demand, fewest kinds first; empty when all demand is equal. */
  cellsFor(hardware: MatchingHardware): readonly Int32Array[];
  /** By kind: the lower the demand, the higher. */
  readonly merit: Float64Array;
}

export function createTiers(machine: Machine, pending: CycleInput["pending"]): HardwareTiers {
  const known = new Map<MatchingHardware, readonly Int32Array[]>();
  const demand = demandByKind(machine, pending);
  return {
    merit: demand.map((demanded) => -demanded),
    cellsFor(hardware) {
      const made = known.get(hardware);
      if (made !== undefined) return made;
      const tiers = cellsBelow(machine, hardware, demand);
      known.set(hardware, tiers);
      return tiers;
    },
  };
}

/**
 * Returns the demand by kind: each request is spread over all nodes that match it, in whole millionths, whose sum does
 * not depend on the order of the queue.
 */
export function demandByKind(machine: Machine, pending: CycleInput["pending"]): Float64Array {
  const demand = new Float64Array(machine.kinds.length);
  if (demand.length <= 1) return demand;
  const demanded = new Map<Match, number>();
  for (const { constraints, minNodes } of pending) {
    const match = matchFor(machine, constraints);
    demanded.set(match, (demanded.get(match) ?? 0) + minNodes);
  }
  for (const [{ kinds, size }, nodes] of demanded) {
    const each = size === 0 ? 0 : Math.round((1e6 * nodes) / size);
    for (let kind = 0; kind < kinds.length; kind += 1) {
      if (kinds[kind] === 1) demand[kind] = (demand[kind] as number) + each;
    }
  }
  // Borrowed nodes are the last choice, whatever the demand.
  for (const [kind, { lender }] of machine.kinds.entries()) if (lender !== undefined) demand[kind] = BORROWED;
  return demand;
}

/** More than any queue demands. */
const BORROWED = Number.MAX_SAFE_INTEGER;

function cellsBelow({ cells }: Machine, hardware: MatchingHardware, demand: Float64Array): readonly Int32Array[] {
  const level = (kind: number): number => demand[kind] as number;
  const levels = new Set<number>();
  for (let kind = 0; kind < demand.length; kind += 1) if (hardware.kinds[kind] === 1) levels.add(level(kind));
  const below = [...levels].sort((a, b) => a - b).slice(0, -1);
  return below
    .slice(0, TIER_LIMIT)
    .map((most) => hardware.cells.filter((cell) => level(cells.kindOf[cell] as number) <= most));
}
