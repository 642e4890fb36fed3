// The metrics of an attempt between two readings of its counters, or of one reading for amounts. A counter that is
// missing or went backwards gives no value.

import type { ProcessUsage } from "../host/usage/usage.ts";

export interface Moment {
  readonly atMs: number;
  readonly usage: ProcessUsage;
}

const SECOND_MS = 1_000;

/** `before`: null when earlier counters are unknown. */
export function ratesBetween(before: Moment | null, after: Moment, cores: number): Record<string, number> {
  const { usage: now } = after;
  const values: Record<string, number> = { memory_used: now.memoryBytes, processes: now.processes };
  if (before === null || after.atMs <= before.atMs) return values;
  const { usage: then } = before;
  const ms = after.atMs - before.atMs;
  const set = (name: string, from: number | undefined, to: number | undefined, factor: number): void => {
    if (from !== undefined && to !== undefined && to >= from) values[name] = ((to - from) * factor) / ms;
  };
  set("cpu_utilization", then.cpuMs, now.cpuMs, 1 / Math.max(1, cores));
  set("io_read_bytes", then.io?.readBytes, now.io?.readBytes, SECOND_MS);
  set("io_write_bytes", then.io?.writtenBytes, now.io?.writtenBytes, SECOND_MS);
  set("network_rx_bytes", then.network?.received, now.network?.received, SECOND_MS);
  set("network_tx_bytes", then.network?.sent, now.network?.sent, SECOND_MS);
  set("page_faults", then.faults, now.faults, SECOND_MS);
  set("major_page_faults", then.majorFaults, now.majorFaults, SECOND_MS);
  set("cpu_stalled", then.stalledMs?.cpu, now.stalledMs?.cpu, 1);
  set("memory_stalled", then.stalledMs?.memory, now.stalledMs?.memory, 1);
  set("io_stalled", then.stalledMs?.io, now.stalledMs?.io, 1);
  return values;
}
