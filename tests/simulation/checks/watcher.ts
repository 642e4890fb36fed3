// What further checks have in common: each hears of every entry once, from whoever applies it first, may hear of every
// process that begins, counts what it has seen, and says what is left undone. A run that shows a check too
// little of what it is for fails, as if the check had.

import type { Applied, View } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { Machine, Process } from "../nodes/machine.ts";

export interface Watcher {
  applied(replica: Replica, applied: Applied): void;
  started?(machine: Machine, process: Process): void;
  /** Every second. */
  look?(view: View): void;
  /** What keeps the cluster from being done, in words. */
  left?(view: View): readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Of each count, in an hour of trouble and at the usual pace of users. */
  readonly leastPerHour: Readonly<Record<string, number>>;
}
