// Effects of a power cut on recently written files: nothing is synced, so a file may be truncated although its name
// exists. A reader finds it empty.

import type { Machine } from "./machine.ts";

/** A kernel writes back data older than this. */
const WRITTEN_BACK_MS = 30_000;

/** One action for each file that can be torn. */
export function tearableFiles(machine: Machine): readonly (() => void)[] {
  const now = machine.clock();
  const young = (atMs: number): boolean => Math.abs(now - atMs) < WRITTEN_BACK_MS;
  const tears: (() => void)[] = [];
  for (const folder of machine.attempts.values()) {
    const { order, pid, stop, end, exit } = folder;
    if (order !== null && young(folder.arrivedAtMs))
      tears.push(() => {
        folder.order = null;
        folder.arrivedAtMs = 0;
        // Both are in the same file.
        folder.bootId = "";
      });
    // Claimed by an unreadable process id.
    if (pid !== null && young(folder.claimedAtMs))
      tears.push(() => {
        folder.pid = 0;
      });
    if (exit !== null && young(folder.exitedAtMs))
      tears.push(() => {
        folder.exit = null;
      });
    if (stop !== null && young(stop.killAtMs - WRITTEN_BACK_MS))
      tears.push(() => {
        folder.stop = null;
      });
    if (end !== null && young(end.atMs))
      tears.push(() => {
        folder.end = null;
      });
  }
  return tears;
}
