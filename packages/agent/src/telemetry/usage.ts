// What some processes use now and have used so far, from what the kernel says of each. Memory that several of them share
// counts for each; what a process has read and written goes with it.

import { readFile } from "node:fs/promises";
import { cpuMsOf } from "./cpu-time.ts";

export interface Usage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Of storage; null: not to be told. */
  readonly io: { readonly readBytes: number; readonly writtenBytes: number } | null;
}

const PAGE_BYTES = 4096;
/** Looking at more than so many, file by file, would cost more than it tells. */
const MAX_LOOKED_AT = 256;

export async function usageOf(pids: readonly number[]): Promise<Usage> {
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

async function ioOf(pids: readonly number[]): Promise<Usage["io"]> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, "latin1").catch(() => "")));
  const all = (name: string): number =>
    sum(texts.map((text) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1] ?? 0)));
  return { readBytes: all("read_bytes"), writtenBytes: all("write_bytes") };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
