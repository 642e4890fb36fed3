// The current and cumulative usage of the processes of an attempt: from its control groups where they count, which also
// covers processes that have ended, otherwise from its processes. A value that the kernel does not count is null.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { StorageBytes } from "../../files/user-files.ts";
import type { GroupUsage, StalledMs } from "./group-usage.ts";
import { type LinkBytes, linkBytesOf } from "./link-bytes.ts";

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** The highest memory use that the kernel has recorded. */
  readonly peakMemoryBytes: number | null;
  /** Storage bytes. */
  readonly io: StorageBytes | null;
  readonly processes: number;
  readonly majorFaults: number;
  readonly faults: number;
  /** Time in which some process waited for the resource, since the start. */
  readonly stalledMs: StalledMs | null;
  /** Of its own network; null on the network of the node. */
  readonly network: LinkBytes | null;
}

const PAGE_BYTES = 4096;
/** USER_HZ, the same on every Linux machine. */
const MS_PER_TICK = 10;
/** More processes than this would cost more to read than the result is worth. */
const MAX_LOOKED_AT = 256;
/** Up to this many are read at once: a thread costs more than the text of a few. */
const MAX_AT_ONCE = 16;

interface UsageSources {
  readonly group: () => GroupUsage;
  /** Asks for the storage bytes, which a process can delay. */
  readonly io: (pids: readonly number[]) => Promise<StorageBytes>;
}

export async function usageOf(pids: readonly number[], { group, io }: UsageSources): Promise<ProcessUsage> {
  const counted = group();
  const each = isWhole(counted) ? null : await statsOf(pids);
  const isReadable = pids.length > 0 && pids.length <= MAX_LOOKED_AT;
  const storage = counted.io ?? (isReadable ? await io(pids).catch(() => null) : null);
  const network = pids[0] === undefined ? null : linkBytesOf(pids[0]);
  return {
    cpuMs: counted.cpuMs ?? each?.cpuMs ?? 0,
    memoryBytes: counted.memoryBytes ?? each?.memoryBytes ?? 0,
    peakMemoryBytes: counted.peakMemoryBytes,
    io: storage,
    processes: pids.length,
    majorFaults: counted.majorFaults ?? each?.majorFaults ?? 0,
    faults: counted.faults ?? each?.faults ?? 0,
    stalledMs: counted.stalledMs,
    network,
  };
}

const isWhole = ({ cpuMs, memoryBytes, faults }: GroupUsage): boolean =>
  cpuMs !== null && memoryBytes !== null && faults !== null;

interface ProcessStats {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly faults: number;
  readonly majorFaults: number;
}

async function statsOf(pids: readonly number[]): Promise<ProcessStats> {
  const texts = pids.length <= MAX_AT_ONCE ? pids.map(statNow) : await Promise.all(pids.map(statLater));
  const total = { cpuMs: 0, memoryBytes: 0, faults: 0, majorFaults: 0 };
  for (const text of texts) {
    const one = statsIn(text);
    total.cpuMs += one.cpuMs;
    total.memoryBytes += one.memoryBytes;
    total.faults += one.faults;
    total.majorFaults += one.majorFaults;
  }
  return total;
}

const statLater = (pid: number): Promise<string> => readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");

function statNow(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return "";
  }
}

/** Of a process and of its children that have ended and been waited for. The name in field 2 may hold anything. */
function statsIn(stat: string): ProcessStats {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (i: number): number => Number(fields[i]) || 0;
  const majorFaults = at(9) + at(10);
  return {
    cpuMs: (at(11) + at(12) + at(13) + at(14)) * MS_PER_TICK,
    memoryBytes: at(21) * PAGE_BYTES,
    faults: at(7) + at(8) + majorFaults,
    majorFaults,
  };
}
