// Durations as people write them in the configuration file ("500ms", "10s", "90m", "7d"). A bare
// number is refused: nobody remembers whether a timeout was in seconds or in milliseconds.

import { type Duration, duration } from "@lattice/core";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

/** Null: not a duration. */
export function parseDuration(text: string): Duration | null {
  const match = /^([0-9]{1,12})(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as Unit];
  return Number.isSafeInteger(ms) ? duration(ms) : null;
}
