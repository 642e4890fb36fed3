// The counters of the control groups of an attempt: CPU time and stalls in its own v2 group, memory and page faults in its
// memory group of v2 or v1, storage in v2 with the io controller. A value without a counter is null.

import { readFile } from "node:fs/promises";
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

export async function groupUsageOf({ v2, memory }: AttemptGroups): Promise<GroupUsage> {
  const [cpu, io, stalledMs, inMemory] = await Promise.all([
    v2 === "" ? null : textOf(v2, "cpu.stat"),
    v2 === "" ? null : textOf(v2, "io.stat"),
    v2 === "" ? null : stallsOf(v2),
    memory === null ? null : memoryOf(memory),
  ]);
  const usage = numberIn(cpu ?? "", "usage_usec");
  return {
    cpuMs: usage === null ? null : usage / 1000,
    memoryBytes: inMemory?.bytes ?? null,
    peakMemoryBytes: inMemory?.peak ?? null,
    faults: inMemory?.faults ?? null,
    majorFaults: inMemory?.majorFaults ?? null,
    stalledMs,
    io: storageIn(io),
  };
}

/** Memory that the kernel cannot drop: anonymous pages and shared memory, without the page cache. */
async function memoryOf({ folder, version, isOwn }: MemoryGroup) {
  const stat = await textOf(folder, "memory.stat");
  if (stat === null) return null;
  const prefix = version === 1 ? "total_" : "";
  const anonymous = numberIn(stat, version === 1 ? "total_rss" : "anon");
  const shared = numberIn(stat, `${prefix}shmem`);
  // The whole group outlives an attempt, so its counters cover earlier ones as well.
  const faults = isOwn ? numberIn(stat, `${prefix}pgfault`) : null;
  const majorFaults = isOwn ? numberIn(stat, `${prefix}pgmajfault`) : null;
  const peak = isOwn ? await textOf(folder, version === 1 ? "memory.max_usage_in_bytes" : "memory.peak") : null;
  const bytes = anonymous === null ? null : anonymous + (shared ?? 0);
  return { bytes, peak: peak === null ? null : Number(peak), faults, majorFaults };
}

async function stallsOf(folder: string): Promise<StalledMs | null> {
  const [cpu, memory, io] = await Promise.all(
    ["cpu", "memory", "io"].map(async (name) => stallIn((await textOf(folder, `${name}.pressure`)) ?? "")),
  );
  return cpu === null || cpu === undefined ? null : { cpu, memory: memory ?? 0, io: io ?? 0 };
}

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`, in microseconds. */
function stallIn(text: string): number | null {
  const total = /^some .*total=(\d+)$/m.exec(text)?.[1];
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

const textOf = (folder: string, file: string): Promise<string | null> =>
  readFile(join(folder, file), "latin1").catch(() => null);
