// Finds the processes of an earlier life of this agent and watches them. They are no children of
// ours, so their end is seen by looking; our own children are never in this watch. A number alone
// proves nothing, it may have been used again: the command line must name the attempt's folder.

import { readdir, readFile } from "node:fs/promises";
import type { Exit } from "../../lifecycle/attempt.ts";
import { readExit } from "./files.ts";

/** Empty: there is no such process, or it is exiting. */
export async function commandLineOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? [] : text.split("\0");
}

export const isWrapperOf = (dir: string, commandLine: readonly string[]): boolean => commandLine[2] === dir;

export const isWrapper = async (dir: string, pid: number): Promise<boolean> =>
  isWrapperOf(dir, await commandLineOf(pid));

/** For the wrapper that claimed the attempt but whose number is not on disk. */
export async function findWrapperOf(dir: string): Promise<number | null> {
  for (const name of await readdir("/proc").catch(() => [])) {
    const pid = Number.parseInt(name, 10);
    if (!Number.isNaN(pid) && (await isWrapper(dir, pid))) return pid;
  }
  return null;
}

export interface Watch {
  add(key: string, dir: string, pid: number): void;
  close(): void;
}

/** How long after its end a reattached process is missed; our own children are seen at once. */
const LOOK_EVERY_MS = 250;

export function watchAdopted(exited: (key: string, exit: Exit) => void): Watch {
  const adopted = new Map<string, { readonly dir: string; readonly pid: number }>();
  let timer: NodeJS.Timeout | null = null;
  let looking = false;

  async function look(): Promise<void> {
    for (const [key, { dir, pid }] of adopted) {
      if (await isWrapper(dir, pid)) continue;
      // Read after the look at the process: an exit written in between is not missed.
      const exit = await readExit(dir);
      if (!adopted.delete(key)) continue;
      exited(key, exit ?? { kind: "unseen", message: "its process vanished without leaving an exit status" });
    }
    if (adopted.size === 0) stop();
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    add(key, dir, pid) {
      adopted.set(key, { dir, pid });
      timer ??= setInterval(() => {
        if (looking) return;
        looking = true;
        void look().finally(() => {
          looking = false;
        });
      }, LOOK_EVERY_MS);
    },
    close() {
      adopted.clear();
      stop();
    },
  };
}
