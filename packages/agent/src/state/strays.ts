// Processes that only the state file knows: their attempt's folder is gone, or is in a data folder no longer used, so
// they cannot be recovered. The servers count such attempts as lost and may start them elsewhere, so their processes
// are killed. A process id may be reused: the wrapper must carry its name, in the same boot.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { membersBelow, removeBelow } from "../host/isolation/group-folder.ts";
import { signalEach } from "../host/isolation/isolation.ts";
import { processGroup } from "../host/isolation/process-group.ts";
import { isWrapper } from "../host/isolation/wrapper-process.ts";
import type { StopContext } from "../runtime/base/engine.ts";
import type { StateEntry } from "../runtime/base/runtime.ts";
import { stop } from "../runtime/process/stop.ts";
import type { AgentState } from "./state-file.ts";

interface Here {
  readonly bootId: string;
  readonly dataDir: string;
}

/** The means of ending a stray. */
type StrayMeans = Omit<StopContext, "isolation">;

/** Returns attempts without a directory of this agent. After a reboot none of their processes is left. */
export function straysIn(before: AgentState | null, { bootId, dataDir }: Here): readonly StateEntry[] {
  if (before === null || before.boot_id !== bootId) return [];
  const own = join(dataDir, "attempts");
  return before.attempts.filter(({ dir }) => dirname(dir) !== own || !existsSync(dir));
}

export async function endStray(stray: StateEntry, { files, log, signal }: StrayMeans): Promise<void> {
  log.warn({ attempt: stray.attempt, pid: stray.pid }, "killing processes of an attempt whose folder is gone");
  await emptyGroup(stray.cgroup, signal);
  const known = stray.pid !== null && (await isWrapper(stray.wrapper, stray.pid));
  // Found by session while the wrapper lives, and by the marker in the environment of its descendants.
  const place = { key: stray.wrapper, dir: stray.dir, leader: known ? stray.pid : null, uid: stray.uid ?? null };
  await stop(place, { isolation: processGroup(files), files, signal, log });
}

const PAUSE_MS = 20;

async function emptyGroup(group: string, signal: AbortSignal): Promise<void> {
  // Only groups below a folder of this name belong to agents, whatever the file contains.
  if (!group.includes("/lattice/")) return;
  while (!signal.aborted && existsSync(group) && !(await removeBelow(group))) {
    signalEach(await membersBelow(group), "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
