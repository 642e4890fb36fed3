// The order of allocation ids: by number, then by element. Decimal texts without leading zeros compare by length first,
// which avoids parsing numbers.

import { byCodeUnits } from "./canonical.ts";
import type { AllocationId } from "./ids.ts";

export function compareAllocationIds(a: AllocationId, b: AllocationId): number {
  const aCut = a.indexOf("_");
  const bCut = b.indexOf("_");
  if (aCut < 0 && bCut < 0) return compareDecimals(a, b);
  const byNumber = compareDecimals(aCut < 0 ? a : a.slice(0, aCut), bCut < 0 ? b : b.slice(0, bCut));
  if (byNumber !== 0) return byNumber;
  // The group itself comes before its elements.
  return (aCut < 0 ? -1 : Number(a.slice(aCut + 1))) - (bCut < 0 ? -1 : Number(b.slice(bCut + 1)));
}

const compareDecimals = (a: string, b: string): number => a.length - b.length || byCodeUnits(a, b);
