// A node that was started, as its owner holds it.

import type { pb } from "@lattice/wire";
import type { Attempt } from "./lifecycle/attempt.ts";
import type { LogFigures } from "./logs/ship/shipper.ts";

/** What there is of everything at this moment. */
export interface NodeFigures {
  readonly attempts: Readonly<Record<Attempt["kind"], number>>;
  readonly terminals: number;
  readonly logStreams: number;
  readonly reportsWaiting: number;
  readonly log: LogFigures | null;
}

export interface Node {
  connected(): boolean;
  /** How often it has greeted a server. */
  hellos(): number;
  /** Attempts that are not over yet. */
  live(): number;
  figures(): NodeFigures;
  /** Lost when not connected. */
  tell(report: pb.ConditionReport): void;
  /** Ends every workload; resolves when none is left or the time is up. */
  stopAll(reason: string, graceMs: number, deadlineMs: number): Promise<void>;
  /** Lets go of the link and of the runtime; workloads go on. */
  close(): Promise<void>;
}
