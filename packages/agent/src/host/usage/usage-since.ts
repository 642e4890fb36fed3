// The usage of one attempt where a wrapper and its control group serve several: their counters include the attempts before.
// Pure.

import type { ProcessUsage } from "./usage.ts";

/** `before`: what was counted when the attempt began; null in a new group. */
export function usageSince(before: ProcessUsage | null, now: ProcessUsage): ProcessUsage {
  if (before === null) return now;
  const { io, stalledMs } = now;
  return {
    ...now,
    cpuMs: since(before.cpuMs, now.cpuMs),
    faults: since(before.faults, now.faults),
    majorFaults: since(before.majorFaults, now.majorFaults),
    io: io === null ? null : each(before.io, io),
    stalledMs: stalledMs === null ? null : each(before.stalledMs, stalledMs),
    peakMemoryBytes: isHigher(before.peakMemoryBytes, now.peakMemoryBytes) ? now.peakMemoryBytes : null,
  };
}

const since = (before: number, now: number): number => Math.max(0, now - before);

/** The kernel's peak is that of all attempts: unless this one has raised it, its own is unknown. */
const isHigher = (before: number | null, now: number | null): boolean => (now ?? 0) > (before ?? 0);

function each<Counts extends object>(before: Counts | null, now: Counts): Counts {
  const earlier = before as Readonly<Record<string, number>> | null;
  return Object.fromEntries(
    Object.entries(now).map(([name, value]) => [name, since(earlier?.[name] ?? 0, value as number)]),
  ) as Counts;
}
