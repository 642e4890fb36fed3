// Parses durations. Lattice accepts units (`72h`, `1h30m`) and clock forms (`HH:MM:SS`, `MM:SS`, `D-HH:MM:SS`); a bare
// number is ambiguous and refused. Slurm's forms, where a bare number means minutes, have their own function.

import { fieldError } from "../errors/field-list.ts";
import { quoted } from "../text/quoted.ts";

/** 2^32 - 1 seconds, the maximum of the contract. */
const MAX_WALLTIME_SECONDS = 0xffff_ffff;

const UNITS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };
const WITH_UNITS = /^(?:\d+(?:\.\d+)?(?:d|h|m|s))+$/;
const CLOCK = /^(?:(\d{1,7})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,2}))?$/;
const HINT = 'Write it as "72h", "90m", "1h30m", "HH:MM:SS" or "D-HH:MM:SS".';

/** Returns whole seconds. Throws a ProblemError that names `field`. */
export function parseWalltime(text: string, field = "walltime"): number {
  const plain = text.trim().toLowerCase().replace(/\s+/g, "");
  const found = withUnits(plain) ?? (plain.includes(":") || plain.includes("-") ? clock(plain) : null);
  const minutes = /^\d{1,9}$/.test(plain) ? ` (did you mean "${plain}m"?)` : "";
  return checked(found, { field, hint: HINT, detail: `${quoted(text)} is not a duration${minutes}` });
}

/**
 * Parses `minutes`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`, and Lattice's units. Returns null for no
 * limit.
 */
export function parseSlurmTime(text: string, field = "--time"): number | null {
  const plain = text.trim().toLowerCase();
  if (plain === "unlimited" || plain === "infinite" || plain === "-1" || plain === "0") return null;
  const minutes = /^\d{1,9}$/.test(plain) ? Number(plain) * 60 : null;
  return checked(minutes ?? withUnits(plain) ?? clock(plain), {
    field,
    detail: `${quoted(text)} is not a duration`,
    hint: 'Write it as minutes, "MM:SS", "HH:MM:SS", "D-HH" or "D-HH:MM:SS".',
  });
}

export function hoursToSeconds(hours: number, field: string): number {
  return checked(Number.isFinite(hours) ? Math.round(hours * 3_600) : null, {
    field,
    detail: "is not a number of hours",
    hint: "Give a number above 0.",
  });
}

function withUnits(text: string): number | null {
  if (!WITH_UNITS.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)([dhms])/g)) {
    total += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  }
  return Math.round(total);
}

/** Only the first part may exceed its usual range: "100:00:00" is a hundred hours. */
function clock(text: string): number | null {
  const match = CLOCK.exec(text);
  if (match === null) return null;
  const [, days, a = "0", b, c] = match;
  const first = Number(a);
  const second = Number(b ?? 0);
  const third = Number(c ?? 0);
  if (third > 59 || second > 59) return null;
  if (days !== undefined) return first > 23 ? null : Number(days) * 86_400 + first * 3_600 + second * 60 + third;
  if (b === undefined) return null;
  return c === undefined ? first * 60 + second : first * 3_600 + second * 60 + third;
}

function checked(seconds: number | null, { field, hint, detail }: Record<"field" | "hint" | "detail", string>): number {
  if (seconds === null) throw fieldError([{ field, detail, hint }]);
  if (seconds < 1) throw fieldError([{ field, detail: "must be at least one second", hint }]);
  if (seconds > MAX_WALLTIME_SECONDS) throw fieldError([{ field, detail: "is longer than 136 years", hint }]);
  return seconds;
}
