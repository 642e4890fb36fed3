// Times and durations of a JSON-lines trace, in seconds; `null` when the text is neither.

/** Parses seconds as a number, or a date such as "2026-03-01T00:00:01Z". */
export function parseTime(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : ms / 1000;
}

const UNIT_SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Parses seconds as a number, "90s", "72h", "1.5h", "HH:MM:SS" or "D-HH:MM:SS". */
export function parseDuration(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const unit = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value);
  if (unit !== null) return Number(unit[1]) * UNIT_SECONDS[unit[2] as keyof typeof UNIT_SECONDS];
  const clock = /^(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d)$/.exec(value);
  if (clock === null) return null;
  const [, days = "0", hours, minutes, seconds] = clock;
  return Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
