// The order of groups: digits by value, the rest by code units, so that g9 precedes g10. Consecutive groups count as
// adjacent.

import { byCodeUnits } from "@lattice/core";

export function inNaturalOrder(a: string, b: string): number {
  const one = a.match(PARTS) ?? [];
  const other = b.match(PARTS) ?? [];
  const shared = Math.min(one.length, other.length);
  for (let i = 0; i < shared; i += 1) {
    const difference = compareParts(one[i] ?? "", other[i] ?? "");
    if (difference !== 0) return difference;
  }
  return one.length - other.length || byCodeUnits(a, b);
}

const PARTS = /\d+|\D+/g;

function compareParts(a: string, b: string): number {
  const [one, other] = [Number(a), Number(b)];
  return Number.isNaN(one) || Number.isNaN(other) ? byCodeUnits(a, b) : one - other;
}
