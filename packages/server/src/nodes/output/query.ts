// A request for a range of one output stream of an attempt on one node.

import type { AllocationId, Attempt, NodeId } from "@lattice/core";

export interface LogsQuery {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly node: NodeId;
  readonly stream: "stdout" | "stderr";
  /** Number of last lines; 0 for everything. */
  readonly tail: number;
  /** Continue until the attempt has ended and its output is read. */
  readonly follow: boolean;
  /** First byte. */
  readonly offset: number;
  /** Milliseconds since 1970; 0 for no bound. */
  readonly sinceMs: number;
  readonly untilMs: number;
}
