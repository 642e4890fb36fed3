// What a node needs from whatever runs its attempts. Real processes and the simulated ones of a
// hollow node both fit behind it, so that link, lifecycle and reports are the same code for both.

import type { Target } from "../checkpoint/types.ts";
import type { End, Exit, Order, Stop } from "../lifecycle/attempt.ts";
import type { Facts } from "../lifecycle/recover.ts";
import type { StateEntry } from "../state/state-file.ts";
import type { AttemptRoom } from "../tasks/room.ts";
import type { Usage } from "../telemetry/usage.ts";
import type { FirstProcess } from "./first-process.ts";

export type StartResult =
  | { readonly kind: "started"; readonly atMs: number }
  /** `stage`: making the node ready for it failed there. */
  | { readonly kind: "not_launched"; readonly message: string; readonly stage?: string };

export interface Runtime {
  /** "cgroup2", "cgroup1" or "process_group". */
  readonly isolation: string;
  /** Every attempt found from an earlier life of this agent. Called once, before anything else. */
  recover(): Promise<ReadonlyMap<string, Facts>>;
  /** Ends what belongs to none of these attempts but was left by an earlier life of this agent. */
  sweep(known: ReadonlySet<string>): Promise<void>;
  /** Goes on with an attempt whose process is alive: its exit will be told. */
  adopt(key: string): void;
  start(key: string, order: Order): Promise<StartResult>;
  /** A start that is under way need not go on: it answers soon that nothing was launched, or that it was. */
  interrupt(key: string): void;
  /** SIGTERM, once for each process of the attempt. */
  terminate(key: string): Promise<void>;
  /** SIGKILL for everything of the attempt. */
  kill(key: string): Promise<void>;
  /** Resolves when nothing of the attempt is left on the node. */
  clear(key: string): Promise<void>;
  rememberOrder(key: string, order: Order): Promise<void>;
  rememberStop(key: string, stop: Stop): Promise<void>;
  rememberEnd(key: string, end: End): Promise<void>;
  /** The record goes, the logs stay until retention takes them. */
  archive(key: string): Promise<void>;
  /** Drops what is on disk of an attempt that never began. */
  discard(key: string): Promise<void>;
  /** Null: no such log here. */
  logFile(key: string, stream: "stdout" | "stderr"): Promise<string | null>;
  /** Where a terminal enters a running attempt; null: nowhere. */
  firstProcess(key: string): Promise<FirstProcess | null>;
  /** Numbers of all its processes. */
  members?(key: string): Promise<readonly number[]>;
  /** Where tasks of a running attempt can be started; null: there is no such attempt. Absent: nowhere. */
  room?(key: string): Promise<AttemptRoom | null>;
  /** Processor time that the attempt has used so far; null: unknown. Absent: never known. */
  cpuMs?(key: string): Promise<number | null>;
  /** What it uses now, and has used so far; null: unknown. Absent: never known. */
  usage?(key: string): Promise<Usage | null>;
  /** In which its programs may say how they fare; absent: nowhere. */
  metricsFile?(key: string): string;
  /** How its program is asked for a checkpoint; null: it takes none. Absent: nothing here does. */
  checkpoints?(key: string): Promise<Target | null>;
  /** Where its processes are and what it holds, for the state file; null: there is no such attempt. */
  describe?(key: string): Promise<StateEntry | null>;
  /** Lets go of everything without touching a workload. */
  close(): Promise<void>;
}

export interface RuntimeListener {
  exited(key: string, exit: Exit, atMs: number): void;
  /** Retention has taken the last trace of an archived attempt. */
  dropped(key: string): void;
}
