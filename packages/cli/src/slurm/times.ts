// Times in Slurm's format: `0:05` and `1-02:03:04` for durations, local time without a zone for instants, and the
// inputs of `-S` and `-E`.

export { localTime } from "../output/time.ts";

const two = (value: number): string => String(value).padStart(2, "0");

/** Returns 0:05, 1:02:03 or 2-01:02:03, as in squeue and sinfo. */
export function shortSpan(seconds: number): string {
  const { days, hours, minutes, rest } = parts(seconds);
  if (days > 0) return `${days}-${two(hours)}:${two(minutes)}:${two(rest)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Returns 00:00:05 or 2-01:02:03, as in sacct and scontrol. */
export function fullSpan(seconds: number): string {
  const { days, hours, minutes, rest } = parts(seconds);
  const clock = `${two(hours)}:${two(minutes)}:${two(rest)}`;
  return days > 0 ? `${days}-${clock}` : clock;
}

function parts(seconds: number) {
  const whole = Math.max(0, Math.floor(seconds));
  const [days, hours] = [Math.floor(whole / 86_400), Math.floor((whole % 86_400) / 3600)];
  return { days, hours, minutes: Math.floor((whole % 3600) / 60), rest: whole % 60 };
}

const UNITS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
};

/** Hours of today. */
const HOURS: Readonly<Record<string, number>> = {
  today: 0,
  midnight: 0,
  tomorrow: 24,
  noon: 12,
  fika: 15,
  teatime: 16,
};

/**
 * Parses `2026-03-01[THH:MM[:SS]]`, `03/01[/26][-HH:MM]`, `HH:MM[:SS]`, `today`, `noon`, `now` and `now-2hours`.
 * Returns null for anything else.
 */
export function parseInstant(text: string, now: number): number | null {
  const plain = text.trim().toLowerCase();
  if (plain === "now") return now;
  const hour = Object.hasOwn(HOURS, plain) ? HOURS[plain] : undefined;
  if (hour !== undefined) return new Date(now).setHours(hour, 0, 0, 0);
  const relative = /^now([+-])(\d{1,9})(second|minute|hour|day|week)?s?$/.exec(plain);
  if (relative !== null) {
    const amount = Number(relative[2]) * (UNITS[relative[3] ?? "second"] ?? 1) * 1000;
    return relative[1] === "-" ? now - amount : now + amount;
  }
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(plain);
  if (clock !== null) return new Date(now).setHours(Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0), 0);
  const written = /^(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}))?(?:-(\d{1,2}):(\d{2}))?$/.exec(plain);
  if (written !== null) return monthAndDay(written.slice(1), now);
  if (!/^\d{4}-\d{2}-\d{2}(t\d{2}:\d{2}(:\d{2})?)?$/.test(plain)) return null;
  const parsed = Date.parse(plain.includes("t") ? plain.toUpperCase() : `${plain}T00:00:00`);
  return Number.isNaN(parsed) ? null : parsed;
}

/** Returns null for a day that does not exist. */
function monthAndDay([month, day, year, hours = "0", minutes = "0"]: readonly (string | undefined)[], now: number) {
  const of = year === undefined ? new Date(now).getFullYear() : 2000 + Number(year);
  const at = new Date(of, Number(month) - 1, Number(day), Number(hours), Number(minutes));
  return at.getMonth() === Number(month) - 1 && at.getDate() === Number(day) ? at.getTime() : null;
}

/** Returns Sun Nov 15 04:21:06 2026. */
export const dateLine = (at: Date): string =>
  `${at.toDateString().slice(0, 10)} ${at.toTimeString().slice(0, 8)} ${at.getFullYear()}`;
