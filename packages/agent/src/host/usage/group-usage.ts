// The counters of the control groups of an attempt: CPU time and stalls in its own v2 group, memory and page faults in its
// memory group of v2 or v1, storage in v2 with the io controller. A value without a counter is null. The reads are synchronous:
// the kernel answers from memory, and each file would cost a thread more time than its text.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StorageBytes } from "../../files/user-files.ts";
import type { MemoryGroup } from "../isolation/limit-groups.ts";

export interface StalledMs {
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
}

export interface GroupUsage {
  readonly cpuMs: number | null;
  readonly memoryBytes: number | null;
  readonly peakMemoryBytes: number | null;
  readonly faults: number | null;
  readonly majorFaults: number | null;
  readonly stalledMs: StalledMs | null;
  readonly io: StorageBytes | null;
}

interface AttemptGroups {
  /** Its v2 group; empty without one. */
  readonly v2: string;
  readonly memory: MemoryGroup | null;
}

export function groupUsageOf({ v2, memory }: AttemptGroups): GroupUsage {
  const usage = v2 === "" ? null : numberIn(textOf(v2, "cpu.stat") ?? "", "usage_usec");
  const inMemory = memory === null ? null : memoryOf(memory);
  return {
    cpuMs: usage === null ? null : usage / 1000,
    memoryBytes: inMemory?.bytes ?? null,
    peakMemoryBytes: inMemory?.peak ?? null,
    faults: inMemory?.faults ?? null,
    majorFaults: inMemory?.majorFaults ?? null,
    stalledMs: v2 === "" ? null : stallsOf(v2),
    io: v2 === "" ? null : storageIn(textOf(v2, "io.stat")),
  };
}

/** Memory that the kernel cannot drop: anonymous pages and shared memory, without the page cache. */
function memoryOf({ folder, version, isOwn }: MemoryGroup) {
  const stat = textOf(folder, "memory.stat");
  if (stat === null) return null;
  const prefix = version === 1 ? "total_" : "";
  const anonymous = numberIn(stat, version === 1 ? "total_rss" : "anon");
  const shared = numberIn(stat, `${prefix}shmem`);
  // The whole group outlives an attempt, so its counters cover earlier ones as well.
  const faults = isOwn ? numberIn(stat, `${prefix}pgfault`) : null;
  const majorFaults = isOwn ? numberIn(stat, `${prefix}pgmajfault`) : null;
  const peak = isOwn ? textOf(folder, version === 1 ? "memory.max_usage_in_bytes" : "memory.peak") : null;
  const bytes = anonymous === null ? null : anonymous + (shared ?? 0);
  return { bytes, peak: peak === null ? null : Number(peak), faults, majorFaults };
}

function stallsOf(folder: string): StalledMs | null {
  const cpu = stallIn(folder, "cpu");
  if (cpu === null) return null;
  return { cpu, memory: stallIn(folder, "memory") ?? 0, io: stallIn(folder, "io") ?? 0 };
}

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`, in microseconds. */
function stallIn(folder: string, resource: string): number | null {
  const total = /^some .*total=(\d+)$/m.exec(textOf(folder, `${resource}.pressure`) ?? "")?.[1];
  return total === undefined ? null : Number(total) / 1000;
}

/** `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`, one line per device. */
function storageIn(text: string | null): StorageBytes | null {
  if (text === null) return null;
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`${name}=(\\d+)`, "g"))].reduce((total, [, value]) => total + Number(value), 0);
  return { readBytes: sum("rbytes"), writtenBytes: sum("wbytes") };
}

function numberIn(text: string, name: string): number | null {
  const value = new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

function textOf(folder: string, file: string): string | null {
  try {
    return readFileSync(join(folder, file), "latin1");
  } catch {
    return null;
  }
}
