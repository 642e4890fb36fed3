// `choose` on a list of nodes: counts them by cell, and takes the first of each cell in the given order.

import type { Machine } from "../../src/machine/machine.ts";
import { findHardware } from "../../src/machine/match.ts";
import { choose } from "../../src/place/choose.ts";
import type { NodeRequest } from "../../src/place/node-request.ts";

export interface Wanted
  extends Pick<NodeRequest, "atLeast" | "atMost" | "tight" | "maxGroups" | "sameConformance" | "isInefficient"> {
  readonly required: readonly number[];
}

export const exactly = (count: number, fields: Partial<Wanted> = {}): Wanted => ({
  atLeast: count,
  atMost: count,
  tight: false,
  maxGroups: Number.POSITIVE_INFINITY,
  sameConformance: false,
  isInefficient: false,
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
  const hardware = findHardware(cells, machine.groups.length, new Uint8Array(machine.kinds.length).fill(1));
  const distinct = (of: Int32Array): number[] => [...new Set(required.map((one) => of[one] ?? 0))];
  const parts = choose(
    machine,
    { cells: hardware.cells, counts, total: others.length },
    {
      ...rest,
      atLeast: Math.max(0, wanted.atLeast - required.length),
      atMost: wanted.atMost - required.length,
      required: required.length,
      isUnarranged:
        !wanted.tight &&
        !wanted.sameConformance &&
        required.length === 0 &&
        wanted.maxGroups === Number.POSITIVE_INFINITY,
      requiredGroups: distinct(machine.groupOf).sort((a, b) => a - b),
      requiredConformance: distinct(machine.conformanceOf),
      tiers: [],
      kindMerit: null,
      kindRanks: machine.kindRanks,
    },
  );
  if (parts === null) return null;
  const taken = parts.flatMap(({ cell, count }) => others.filter((one) => cells.ofNode[one] === cell).slice(0, count));
  return [...required, ...taken].sort((a, b) => a - b);
}
