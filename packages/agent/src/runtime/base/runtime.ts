// The interface of a runtime of attempts. Real processes and the simulated attempts of hollow nodes implement it, so
// that link, lifecycle and reports are the same code for both.

import type { UsageValues } from "@lattice/core";
import type { CheckpointTarget } from "../../checkpoint/types.ts";
import type { FirstProcess } from "../../host/first-process.ts";
import type { ProcessUsage } from "../../host/usage/usage.ts";
import type { End, Exit, ReceivedOrder, Stop } from "../../lifecycle/attempt.ts";
import type { RecoveredFacts } from "../../lifecycle/recover.ts";
import type { AttemptContext } from "../../tasks/task-context.ts";

export type StartResult =
  | { readonly kind: "started"; readonly atMs: number }
  /** `stage`: the prologue stage that failed. */
  | { readonly kind: "not_launched"; readonly message: string; readonly stage?: string };

export interface Runtime {
  /** "cgroup2", "cgroup1" or "process_group". */
  readonly isolation: string;
  /** Returns every attempt of an earlier run of this agent. Called once, before anything else. */
  recover(): Promise<ReadonlyMap<string, RecoveredFacts>>;
  /** Ends leftovers of an earlier run that belong to none of these attempts. */
  sweep(known: ReadonlySet<string>): Promise<void>;
  /** Adopts an attempt whose process is alive: its exit will be reported. */
  adopt(key: string): void;
  start(key: string, received: ReceivedOrder): Promise<StartResult>;
  /** Cancels a start in progress: it resolves soon, launched or not. */
  interrupt(key: string): void;
  /** Sends SIGTERM once to each process of the attempt. */
  terminate(key: string): Promise<void>;
  /** Sends SIGKILL to all processes of the attempt. */
  kill(key: string): Promise<void>;
  /** Resolves when nothing of the attempt is left on the node. */
  clear(key: string): Promise<void>;
  rememberOrder(key: string, received: ReceivedOrder): Promise<void>;
  rememberStop(key: string, stop: Stop): Promise<void>;
  rememberEnd(key: string, end: End): Promise<void>;
  /** Removes the record; the logs stay until retention removes them. */
  archive(key: string): Promise<void>;
  /** Removes the files of an attempt that never started. */
  discard(key: string): Promise<void>;
  /** Resolves to null when there is no such log. */
  logFile(key: string, stream: "stdout" | "stderr"): Promise<string | null>;
  /** The user of an attempt, archived or not; "" when unknown. */
  userOf?(key: string): string;
  /** Where terminals enter a running attempt; resolves to null when it cannot be entered. */
  firstProcess(key: string): Promise<FirstProcess | null>;
  /** Reads the environment of a process of an attempt. Default: the runtime has no processes. */
  environ?(key: string, pid: number): Promise<Buffer>;
  /** Process ids of the attempt. */
  members?(key: string): Promise<readonly number[]>;
  /** Where tasks of a running attempt can start; resolves to null without such an attempt. */
  attemptContext?(key: string): Promise<AttemptContext | null>;
  /** CPU time used so far; resolves to null when unknown. */
  cpuMs?(key: string): Promise<number | null>;
  /** Current and cumulative usage; resolves to null when unknown. */
  usage?(key: string): Promise<ProcessUsage | null>;
  /** Keeps what the attempt has used until now with its record. */
  rememberUsed?(key: string, used: UsageValues): Promise<void>;
  /** Resolves to the resources that were kept; null for none. */
  used?(key: string): Promise<UsageValues | null>;
  /** The content of the file in which its programs report metrics; "" without one. */
  reported?(key: string): Promise<string>;
  /** Returns how to request a checkpoint; resolves to null without support. */
  checkpoints?(key: string): Promise<CheckpointTarget | null>;
  /** Its processes and holdings, for the state file; resolves to null without such an attempt. */
  describe?(key: string): Promise<StateEntry | null>;
  /** Closes everything without touching a workload. */
  close(): Promise<void>;
}

/** One attempt as the state file describes it. */
export interface StateEntry {
  /** Allocation and attempt: "12.1". */
  readonly attempt: string;
  /** Process id of the wrapper; `null` when unknown. */
  readonly pid: number | null;
  /** The user of its processes; `null` for the agent's own. */
  readonly uid: number | null;
  /** The name that the wrapper carries. */
  readonly wrapper: string;
  /** Folder of its control group; empty when it has none. */
  readonly cgroup: string;
  readonly dir: string;
  readonly runtime: "process" | "uenv" | "container";
  /** Digests of the images that are mounted for it. */
  readonly mounts: readonly string[];
  readonly container: string | null;
}

export interface RuntimeListener {
  exited(key: string, exit: Exit, atMs: number): void;
  /** Retention has removed the last files of an archived attempt. */
  dropped(key: string): void;
}
