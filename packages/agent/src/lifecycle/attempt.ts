// The types of one attempt on one node: its order, the exit of its process, the end that is reported, and the states
// between. Plain values without processes, files or streams, so that every decision can be tested as a table.

import type { pb } from "@lattice/wire";

/** A run order as the server sent it, and what the agent adds. Kept on disk, so that a restarted agent continues with it. */
export interface ReceivedOrder {
  readonly order: pb.RunOrder;
  /** Unique on this node: waiting attempts start in this order. */
  readonly arrivedAtMs: number;
}

/** An order without limits claims the whole node: no other attempt may run there. */
export const isExclusive = (order: pb.RunOrder): boolean => order.limits === undefined;

type AttemptFailureReason =
  | "exit_code"
  | "signal"
  | "walltime_exceeded"
  | "stopped"
  | "launch_failed"
  | "prologue_failed"
  | "oom"
  | "lost"
  | "probe_failed"
  | "recalled";

export type End =
  | { readonly kind: "completed"; readonly exitCode: 0; readonly message: string; readonly atMs: number }
  | {
      readonly kind: "failed";
      readonly reason: AttemptFailureReason;
      readonly exitCode: number | null;
      readonly message: string;
      readonly atMs: number;
      /** The prologue stage that failed. */
      readonly stage?: string;
    };

/**
 * How the attempt's first process ended. `oom`: the kernel killed a process for lack of memory. `limit`: it refused
 * to start one.
 */
export type Exit =
  /** `recorded`: the wrapper left the code on disk, so the end can be derived again after a crash. */
  | {
      readonly kind: "code";
      readonly code: number;
      readonly recorded: boolean;
      readonly oom?: string;
      readonly limit?: string;
    }
  /** The wrapper itself was killed, before it could record anything. */
  | { readonly kind: "signal"; readonly number: number; readonly oom?: string; readonly limit?: string }
  /** The command was never started. `stage`: the prologue stage that failed. */
  | { readonly kind: "not_launched"; readonly message: string; readonly stage?: string }
  /** The process has ended without an exit status. */
  | { readonly kind: "unseen"; readonly message: string };

/** Why the agent ends an attempt. A stop order takes precedence over the walltime. */
export interface Stop {
  readonly cause: "stopped" | "walltime_exceeded" | "probe_failed";
  readonly message: string;
  /** When remaining processes get SIGKILL. */
  readonly killAtMs: number;
}

interface Limits {
  readonly walltimeMs: number | null;
  readonly graceMs: number;
}

export type AttemptState =
  /** Waits for other attempts on the node: no process and no claim until its turn. */
  | { readonly kind: "waiting"; readonly exclusive: boolean; readonly received: ReceivedOrder }
  | { readonly kind: "starting"; readonly exclusive: boolean; readonly limits: Limits }
  | { readonly kind: "running"; readonly exclusive: boolean; readonly limits: Limits; readonly startedAtMs: number }
  | {
      readonly kind: "stopping";
      readonly exclusive: boolean;
      readonly limits: Limits;
      readonly stop: Stop;
      readonly forgotten: boolean;
    }
  /** The process has ended; its leftovers are removed before the end is reported. */
  | {
      readonly kind: "clearing";
      readonly exclusive: boolean;
      readonly exit: Exit;
      readonly atMs: number;
      readonly stop: Stop | null;
      readonly forgotten: boolean;
    }
  /** Reported until acknowledged. */
  | { readonly kind: "ended"; readonly end: End }
  /** Acknowledged; only its logs are kept, until retention removes them. */
  | { readonly kind: "archived"; readonly end: End };

/** An attempt that is in one of these states. */
export type AttemptIn<Kind extends AttemptState["kind"]> = Extract<AttemptState, { readonly kind: Kind }>;

export type TimerName = "walltime" | "terminate_again" | "kill";

export type AttemptEvent =
  /** `wait`: attempts that it may not run together with are on the node. */
  | { readonly kind: "run"; readonly received: ReceivedOrder; readonly wait: boolean }
  /** The node is free for a waiting attempt. */
  | { readonly kind: "turn" }
  | { readonly kind: "stop"; readonly graceMs: number | null; readonly reason: string }
  /** Ends it only while it waits. */
  | { readonly kind: "recall"; readonly reason: string }
  | { readonly kind: "forget" }
  /** Its liveness probe reached the failure limit. */
  | { readonly kind: "unhealthy"; readonly message: string }
  | { readonly kind: "started"; readonly atMs: number }
  | { readonly kind: "exited"; readonly exit: Exit; readonly atMs: number }
  | { readonly kind: "timer"; readonly name: TimerName }
  | { readonly kind: "cleared" }
  | { readonly kind: "acknowledged" };

/**
 * Performed in the order given, each finished before the next begins. That order is a promise:
 * `remember_stop` is on disk before the first signal, and `clear` and `remember_end` are done
 * before the end is reported. One that fails does not keep the next from being performed: a full
 * disk must neither save a process from its signal nor hide its end. What could not be written
 * is tried again later.
 */
export type AttemptEffect =
  | { readonly kind: "start"; readonly received: ReceivedOrder }
  | { readonly kind: "report_running"; readonly atMs: number }
  | { readonly kind: "report_end"; readonly end: End }
  | { readonly kind: "remember_order"; readonly received: ReceivedOrder }
  | { readonly kind: "remember_stop"; readonly stop: Stop }
  | { readonly kind: "remember_end"; readonly end: End }
  | { readonly kind: "terminate" }
  | { readonly kind: "kill" }
  | { readonly kind: "clear" }
  | { readonly kind: "archive" }
  | { readonly kind: "arm"; readonly timer: TimerName; readonly atMs: number }
  | { readonly kind: "disarm" };

const DEFAULT_GRACE_SECONDS = 30;

export const limitsOf = (order: pb.RunOrder): Limits => ({
  walltimeMs: order.walltimeSeconds > 0 ? order.walltimeSeconds * 1000 : null,
  graceMs: (order.graceSeconds > 0 ? order.graceSeconds : DEFAULT_GRACE_SECONDS) * 1000,
});

/** Names an attempt in maps, folders and control groups: "12345.1", "12345_7.2". */
export const attemptKey = (allocationId: string, attempt: number): string => `${allocationId}.${attempt}`;

/** Not over: the attempt waits for the node, or has processes or leftovers on it. */
export type LiveAttempt = Exclude<AttemptState, AttemptIn<"ended" | "archived">>;

export const isLive = (attempt: AttemptState): attempt is LiveAttempt =>
  attempt.kind !== "ended" && attempt.kind !== "archived";

export function countByKind(attempts: Iterable<AttemptState>): Record<AttemptState["kind"], number> {
  const counts = { waiting: 0, starting: 0, running: 0, stopping: 0, clearing: 0, ended: 0, archived: 0 };
  for (const { kind } of attempts) counts[kind] += 1;
  return counts;
}

/** Returns null when the attempt does not run or has no limit. */
export function walltimeLeftMs(attempt: AttemptState | undefined, nowMs: number): number | null {
  if (attempt?.kind !== "running" || attempt.limits.walltimeMs === null) return null;
  return attempt.startedAtMs + attempt.limits.walltimeMs - nowMs;
}
