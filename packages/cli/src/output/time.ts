// Formats instants as local time without milliseconds, and durations as HH:MM:SS.

const two = (value: number): string => String(value).padStart(2, "0");

/** Returns local time as 2026-03-01T14:05:09. */
export function localTime(instant: string | undefined): string {
  if (instant === undefined) return "";
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Returns 03-01T14:05, for narrow tables. */
export const shortTime = (instant: string | undefined): string => localTime(instant).replace(/^\d{4}-(.*):\d\d$/, "$1");

/** Returns 72:00:00: hours are not folded into days, as in the documented tables. */
export function hoursMinutesSeconds(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
}

/** Returns the seconds between two instants; the later one defaults to now. */
export function secondsBetween(from: string, to: string | undefined, now: number): number {
  const end = to === undefined ? now : Date.parse(to);
  return (end - Date.parse(from)) / 1000;
}
