// Parses a point in time: a date, a date with a time, or a duration before now.

import { InvalidArgumentError } from "commander";

const AGO = /^(\d+(?:\.\d+)?)(s|m|h|d)$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns RFC 3339 in UTC. */
export function parseTimestamp(text: string, now: unknown = undefined): string {
  const ago = AGO.exec(text);
  if (ago !== null) {
    const from = typeof now === "number" ? now : Date.now();
    return new Date(from - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS]).toISOString();
  }
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError(
      "Write 2026-03-01, 2026-03-01T10:00:00Z, or a time before now such as 90s, 10m or 2h.",
    );
  }
  return new Date(at).toISOString();
}
