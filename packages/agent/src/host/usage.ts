// The current and cumulative usage of a set of processes, from the kernel. Shared memory counts for each process; I/O
// counts are lost when a process ends.

import { readFile } from "node:fs/promises";
import { cpuMsOf } from "./cpu-time.ts";

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Storage bytes; `null` when the kernel does not report them. */
  readonly io: { readonly readBytes: number; readonly writtenBytes: number } | null;
}

const PAGE_BYTES = 4096;
/** More processes than this would cost more to read than the result is worth. */
const MAX_LOOKED_AT = 256;

export async function usageOf(pids: readonly number[]): Promise<ProcessUsage> {
  const [cpuMs, memory] = await Promise.all([cpuMsOf(pids), Promise.all(pids.map(residentPages))]);
  return {
    cpuMs,
    memoryBytes: sum(memory) * PAGE_BYTES,
    io: pids.length > MAX_LOOKED_AT ? null : await ioOf(pids),
  };
}

async function residentPages(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, "latin1").catch(() => "");
  return Number(text.split(" ")[1] ?? 0);
}

async function ioOf(pids: readonly number[]): Promise<ProcessUsage["io"]> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, "latin1").catch(() => "")));
  const all = (name: string): number =>
    sum(texts.map((text) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1] ?? 0)));
  return { readBytes: all("read_bytes"), writtenBytes: all("write_bytes") };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
