// Finds the processes of an earlier life of this agent and watches them. They are no children of
// ours, so their end is seen by looking; our own children are never in this watch. A number alone
// proves nothing, it may have been used again: the command line must have the wrapper's name.

import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Exit } from "../../lifecycle/attempt.ts";
import type { AttemptPlace } from "../isolation/isolation.ts";
import { readExit } from "./files.ts";

/** Empty: there is no such process, or it is exiting. */
export async function commandLineOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text === "" ? [] : text.split("\0");
}

/** `/bin/sh`, the script, the name. */
export const hasName = (name: string, commandLine: readonly string[]): boolean => commandLine[2] === name;

export const isWrapper = async (name: string, pid: number): Promise<boolean> => hasName(name, await commandLineOf(pid));

/** For the wrapper that claimed the attempt but whose number is not on disk. */
export async function findWrapper(name: string): Promise<number | null> {
  for (const entry of await readdir("/proc").catch(() => [])) {
    const pid = Number.parseInt(entry, 10);
    if (!Number.isNaN(pid) && (await isWrapper(name, pid))) return pid;
  }
  return null;
}

/** The wrapper's child that became the command, and not one of those that copy its output. */
export function childOf(pid: number, but: ReadonlySet<number>): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number);
    return children.find((child) => child > 0 && !but.has(child)) ?? null;
  } catch {
    return null;
  }
}

export interface Watch {
  add(key: string, place: AttemptPlace): void;
  close(): void;
}

/** How long after its end a reattached process is missed; our own children are seen at once. */
const LOOK_EVERY_MS = 250;

export function watchAdopted(exited: (key: string, exit: Exit) => void): Watch {
  const adopted = new Map<string, AttemptPlace>();
  let timer: NodeJS.Timeout | null = null;
  let looking = false;

  async function look(): Promise<void> {
    for (const [key, place] of adopted) {
      if (place.leader !== null && (await isWrapper(place.key, place.leader))) continue;
      // Read after the look at the process: an exit written in between is not missed.
      const exit = readExit(place.dir);
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
    add(key, place) {
      adopted.set(key, place);
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
