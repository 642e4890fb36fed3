// Watches processes of an earlier agent. They are not children of this process, so their end is found by polling; own
// children are never in this watch. A process id may be reused, so the command line must carry the wrapper's name.

import { readFileSync } from "node:fs";
import type { AttemptPlace } from "../../host/isolation/isolation.ts";
import { isWrapper } from "../../host/isolation/wrapper-process.ts";
import type { Exit } from "../../lifecycle/attempt.ts";
import { readExit } from "../base/attempt-files.ts";

/** Returns the wrapper's child that became the command, skipping the processes that copy its output. */
export function childOf(pid: number, but: ReadonlySet<number>): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number);
    return children.find((child) => child > 0 && !but.has(child)) ?? null;
  } catch {
    return null;
  }
}

/** Containers of engines have a few processes between them and the wrapper. */
const MAX_GENERATIONS = 64;

/** Whether the process descends from this one; its ancestors live as long as it does. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  let at = pid;
  for (let left = MAX_GENERATIONS; left > 0 && at > 1; left -= 1) {
    if (at === ancestor) return true;
    at = parentOf(at);
  }
  return false;
}

function parentOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

export interface Watch {
  add(key: string, place: AttemptPlace): void;
  close(): void;
}

/** Polling interval for reattached processes; the end of own children is seen immediately. */
const LOOK_EVERY_MS = 250;

export function watchAdopted(exited: (key: string, exit: Exit) => void): Watch {
  const adopted = new Map<string, AttemptPlace>();
  let timer: NodeJS.Timeout | null = null;
  let looking = false;

  async function look(): Promise<void> {
    for (const [key, place] of adopted) {
      if (place.leader !== null && (await isWrapper(place.key, place.leader))) continue;
      // Read after the process check, so that an exit written in between is seen.
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
