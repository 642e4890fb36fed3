// Recognizes the wrapper process of an attempt by its command line. A process id alone proves nothing: the kernel
// reuses ids, so the command line must carry the wrapper's name.

import { readdir, readFile } from "node:fs/promises";

/** Returns an empty list when the process does not exist or is exiting. */
export async function commandLineOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? [] : text.split("\0");
}

/** The words are `/bin/sh`, the script and the name. */
export const hasName = (name: string, commandLine: readonly string[]): boolean => commandLine[2] === name;

export const isWrapper = async (name: string, pid: number): Promise<boolean> => hasName(name, await commandLineOf(pid));

/** Finds the wrapper that claimed an attempt before it wrote its process id. */
export async function findWrapper(name: string): Promise<number | null> {
  for (const entry of await readdir("/proc").catch(() => [])) {
    const pid = Number.parseInt(entry, 10);
    if (!Number.isNaN(pid) && (await isWrapper(name, pid))) return pid;
  }
  return null;
}
