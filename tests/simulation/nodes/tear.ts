// What a power cut does to files that were written shortly before it: nothing is synced, so that a file may be
// cut short although its name is there. Whoever reads one finds nothing in it.

import type { Machine } from "./machine.ts";

/** A kernel writes back what is older than this. */
const WRITTEN_BACK_MS = 30_000;

/** One deed for each file that can be torn. */
export function youngFiles(machine: Machine): readonly (() => void)[] {
  const now = machine.clock();
  const young = (atMs: number): boolean => Math.abs(now - atMs) < WRITTEN_BACK_MS;
  const tears: (() => void)[] = [];
  for (const folder of machine.attempts.values()) {
    const { order, pid, stop, end, exit } = folder;
    if (order !== null && young(order.arrivedAtMs))
      tears.push(() => {
        folder.order = null;
        // It stands in the same file.
        folder.bootId = "";
      });
    // Claimed by a number that cannot be read.
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
