// `choose` on a list of nodes: counts them by cell, and takes the first of each cell in the given order.

import type { Machine } from "../src/machine/machine.ts";
import { hardwareOf } from "../src/machine/match.ts";
import { type Ask, choose } from "../src/place/choose.ts";

export interface Wanted extends Pick<Ask, "atLeast" | "atMost" | "tight" | "maxGroups" | "alike" | "modest"> {
  readonly required: readonly number[];
}

export const exactly = (count: number, fields: Partial<Wanted> = {}): Wanted => ({
  atLeast: count,
  atMost: count,
  tight: false,
  maxGroups: Number.POSITIVE_INFINITY,
  alike: false,
  modest: false,
  required: [],
  ...fields,
});

/** Node numbers, ascending; null when it does not fit. `available` is in order of preference. */
export function place(machine: Machine, available: readonly number[], wanted: Wanted): readonly number[] | null {
  const { required, ...rest } = wanted;
  if (!required.every((one) => available.includes(one))) return null;
  const others = available.filter((one) => !required.includes(one));
  const { cells } = machine;
  const counts = new Int32Array(cells.count);
  for (const one of others) {
    const cell = cells.ofNode[one] ?? 0;
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  const hardware = hardwareOf(cells, machine.groups.length, new Uint8Array(machine.kinds.length).fill(1));
  const distinct = (of: Int32Array): number[] => [...new Set(required.map((one) => of[one] ?? 0))];
  const parts = choose(
    machine,
    { cells: hardware.cells, counts, total: others.length },
    {
      ...rest,
      atLeast: Math.max(0, wanted.atLeast - required.length),
      atMost: wanted.atMost - required.length,
      required: required.length,
      forced: distinct(machine.groupOf).sort((a, b) => a - b),
      forcedConformance: distinct(machine.conformanceOf),
      tiers: [],
      kindMerit: null,
      packing: machine.packing,
    },
  );
  if (parts === null) return null;
  const taken = parts.flatMap(({ cell, count }) => others.filter((one) => cells.ofNode[one] === cell).slice(0, count));
  return [...required, ...taken].sort((a, b) => a - b);
}
