// Processes that the state file knows and nobody else: their attempt's folder is gone, or lies in a data folder that is
// used no more, so they cannot be taken up again. The servers take such attempts for lost and may start them elsewhere,
// so what is left of them is ended. A number alone proves nothing: the wrapper must carry its name, in the same boot.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { membersBelow, removeBelow } from "../runtime/isolation/group-folder.ts";
import { signalEach } from "../runtime/isolation/isolation.ts";
import { processGroup } from "../runtime/isolation/process-group.ts";
import { isWrapper } from "../runtime/process/reattach.ts";
import { clear } from "../runtime/process/stop.ts";
import type { NodeState, StateEntry } from "./state-file.ts";

export interface Here {
  readonly bootId: string;
  readonly dataDir: string;
}

/** Attempts that no folder of this agent stands for. After a boot none of their processes is left. */
export function straysIn(before: NodeState | null, { bootId, dataDir }: Here): readonly StateEntry[] {
  if (before === null || before.boot_id !== bootId) return [];
  const own = join(dataDir, "attempts");
  return before.attempts.filter(({ dir }) => dirname(dir) !== own || !existsSync(dir));
}

export async function endStray(stray: StateEntry, log: Logger, signal: AbortSignal): Promise<void> {
  log.warn({ attempt: stray.attempt, pid: stray.pid }, "ending what is left of an attempt whose folder is gone");
  await emptyGroup(stray.cgroup, signal);
  const known = stray.pid !== null && (await isWrapper(stray.wrapper, stray.pid));
  // By its session while the wrapper lives, and by the mark in the environment of all that came from it.
  const place = { key: stray.wrapper, dir: stray.dir, leader: known ? stray.pid : null };
  await clear(processGroup(), place, { signal, log });
}

const PAUSE_MS = 20;

async function emptyGroup(group: string, signal: AbortSignal): Promise<void> {
  // Groups of agents lie below a folder of this name, whatever the file says.
  if (!group.includes("/lattice/")) return;
  while (!signal.aborted && existsSync(group) && !(await removeBelow(group))) {
    signalEach(await membersBelow(group), "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
