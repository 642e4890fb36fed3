// Recognizes the wrapper process of an attempt by its command line. A process id alone proves nothing: the kernel
// reuses ids, so the command line must carry the wrapper's name.

import { readdir } from "node:fs/promises";
import { ownCommandLine } from "../own-process.ts";

/** The words are `/bin/sh`, the script and the name. */
export const hasName = (name: string, commandLine: readonly string[] | null): boolean => commandLine?.[2] === name;

export const isWrapper = async (name: string, pid: number): Promise<boolean> =>
  hasName(name, await ownCommandLine(pid));

/** Finds the wrapper that claimed an attempt before it wrote its process id. */
export async function findWrapper(name: string): Promise<number | null> {
  for (const entry of await readdir("/proc").catch(() => [])) {
    const pid = Number.parseInt(entry, 10);
    if (!Number.isNaN(pid) && (await isWrapper(name, pid))) return pid;
  }
  return null;
}
