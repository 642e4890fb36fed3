// Whether measured facts have changed, so that equal ones are sent to the planner once.

import type { Signals } from "@lattice/scheduler";
import type { MeasuredFacts } from "./messages.ts";

export const isSameFacts = (a: MeasuredFacts, b: MeasuredFacts): boolean =>
  a.stale === null && b.stale === null && isSameSignals(a.signals ?? {}, b.signals ?? {});

function isSameSignals(a: Signals, b: Signals): boolean {
  const names = Object.keys({ ...a, ...b }) as (keyof Signals)[];
  return names.every((name) => isSameValue(a[name], b[name]));
}

/** Maps and sets are replaced when they change, and never changed; other values are small. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const areSmall = [a, b].every((value) => !(value instanceof Map) && !(value instanceof Set));
  return areSmall && JSON.stringify(a) === JSON.stringify(b);
}
