// The interface of a started node.

import type { pb } from "@lattice/wire";
import type { NodeCounts } from "../metrics/node-counts.ts";

export interface AgentNode {
  connected(): boolean;
  /** Number of Hellos sent to servers. */
  hellos(): number;
  /** Attempts that are not over yet. */
  live(): number;
  counts(): NodeCounts;
  /** Dropped when not connected. */
  sendCondition(report: pb.ConditionReport): void;
  /** Ends every workload; resolves when none is left or the time is up. */
  stopAll(reason: string, graceMs: number, deadlineMs: number): Promise<void>;
  /** Closes the link and the runtime; workloads keep running. */
  close(): Promise<void>;
}
