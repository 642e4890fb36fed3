// The interface of further checks: each receives every entry once, optionally every process start, counts what it has
// seen and reports open conditions. A run in which a check saw too little fails.

import type { Applied, View } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { Machine, Process } from "../nodes/machine.ts";

export interface Watcher {
  applied(replica: Replica, applied: Applied): void;
  started?(machine: Machine, process: Process): void;
  /** Every second. */
  look?(view: View): void;
  /** Reasons why the cluster is not finished. */
  left?(view: View): readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Minimum of each count, per hour with faults at the usual pace. */
  readonly leastPerHour: Readonly<Record<string, number>>;
}
