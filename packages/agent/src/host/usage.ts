// The current and cumulative usage of a set of processes, from the kernel. Shared memory counts for each process; I/O
// counts are lost when a process ends.

import { readFile } from "node:fs/promises";
import type { StorageBytes } from "../files/user-files.ts";
import { cpuMsOf } from "./cpu-time.ts";

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Storage bytes; `null` when the kernel does not report them. */
  readonly io: StorageBytes | null;
}

const PAGE_BYTES = 4096;
/** More processes than this would cost more to read than the result is worth. */
const MAX_LOOKED_AT = 256;

/** `io`: asks for the storage bytes, which a process can delay. */
export async function usageOf(
  pids: readonly number[],
  io: (pids: readonly number[]) => Promise<StorageBytes>,
): Promise<ProcessUsage> {
  const [cpuMs, memory] = await Promise.all([cpuMsOf(pids), Promise.all(pids.map(residentPages))]);
  return {
    cpuMs,
    memoryBytes: sum(memory) * PAGE_BYTES,
    io: pids.length === 0 || pids.length > MAX_LOOKED_AT ? null : await io(pids).catch(() => null),
  };
}

async function residentPages(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, "latin1").catch(() => "");
  return Number(text.split(" ")[1] ?? 0);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
