// Which kinds of hardware an allocation should leave to others: those that are asked for most per node. A
// request that any node can take then does not sit on the GPUs that the next one cannot do without.

import { candidates } from "../candidates.ts";
import type { CycleInput } from "../cycle-types.ts";
import { TIER_LIMIT } from "../limits.ts";
import type { Machine } from "../machine/machine.ts";
import type { Hardware, Match } from "../machine/match.ts";

export interface Tiers {
  /** Its cells without the most wanted kinds, those with the fewest kinds first; empty when all are wanted alike. */
  of(hardware: Hardware): readonly Int32Array[];
  /** By kind: the less it is asked for, the higher. */
  readonly merit: Float64Array;
}

export function tiersOf(machine: Machine, pending: CycleInput["pending"]): Tiers {
  const known = new Map<Hardware, readonly Int32Array[]>();
  const pressure = pressureOf(machine, pending);
  return {
    merit: pressure.map((asked) => -asked),
    of(hardware) {
      const made = known.get(hardware);
      if (made !== undefined) return made;
      const tiers = cumulated(machine, hardware, pressure);
      known.set(hardware, tiers);
      return tiers;
    },
  };
}

/** Nodes asked for by kind, each request spread over all nodes that can take it; in whole millionths, whose sum
 * does not depend on the order of the queue. */
export function pressureOf(machine: Machine, pending: CycleInput["pending"]): Float64Array {
  const pressure = new Float64Array(machine.kinds.length);
  if (pressure.length <= 1) return pressure;
  const asked = new Map<Match, number>();
  for (const { constraints, minNodes } of pending) {
    const match = candidates(machine, constraints);
    asked.set(match, (asked.get(match) ?? 0) + minNodes);
  }
  for (const [{ kinds, size }, nodes] of asked) {
    const each = size === 0 ? 0 : Math.round((1e6 * nodes) / size);
    for (let kind = 0; kind < kinds.length; kind += 1) {
      if (kinds[kind] === 1) pressure[kind] = (pressure[kind] as number) + each;
    }
  }
  // Borrowed nodes are the last choice, whatever is asked for.
  for (const [kind, { lender }] of machine.kinds.entries()) if (lender !== undefined) pressure[kind] = BORROWED;
  return pressure;
}

/** More than any queue asks for. */
const BORROWED = Number.MAX_SAFE_INTEGER;

function cumulated({ cells }: Machine, hardware: Hardware, pressure: Float64Array): readonly Int32Array[] {
  const level = (kind: number): number => pressure[kind] as number;
  const levels = new Set<number>();
  for (let kind = 0; kind < pressure.length; kind += 1) if (hardware.kinds[kind] === 1) levels.add(level(kind));
  const below = [...levels].sort((a, b) => a - b).slice(0, -1);
  return below
    .slice(0, TIER_LIMIT)
    .map((most) => hardware.cells.filter((cell) => level(cells.kindOf[cell] as number) <= most));
}
