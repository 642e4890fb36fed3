// The nouns of one attempt on one node: the order that starts it, how its process ended, the end
// that is reported, and the states between. Plain values only: nothing here knows of processes,
// files or streams, so that every decision about an attempt can be tested as a table.

/** How a service is asked whether it lives. */
export interface Probe {
  readonly kind: "tcp" | "http";
  readonly port: number;
  readonly path: string;
  readonly periodMs: number;
  readonly initialDelayMs: number;
  readonly failureThreshold: number;
  readonly timeoutMs: number;
}

/** What the server asked to run; kept on disk so that a restarted agent can go on. */
export interface Order {
  readonly allocationId: string;
  readonly attempt: number;
  readonly name: string;
  readonly tenant: string;
  readonly project: string;
  readonly user: string;
  readonly vcluster: string;
  readonly entrypoint: string;
  readonly command: readonly string[];
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** 0: no limit. */
  readonly walltimeSeconds: number;
  /** 0: the default. */
  readonly graceSeconds: number;
  readonly nodes: readonly string[];
  readonly nodeIndex: number;
  readonly tasksPerNode: number;
  readonly slurmEnv: boolean;
  /** For programs of the job that call the API; "" or absent: none. */
  readonly apiToken?: string;
  /** Null: not probed. */
  readonly probe: Probe | null;
  /** Nothing else may be on the node while this attempt is. */
  readonly exclusive: boolean;
  /** When this agent got it, never the same for two: who waits for the node begins in this order. */
  readonly arrivedAtMs: number;
  /** Instead of the node's own software. Absent, here and below: nothing asked for. */
  readonly software?: Software;
  readonly mounts?: readonly Mount[];
  /** What it asks of its folders. */
  readonly data?: {
    /** With placeholders; empty: where the site keeps output. */
    readonly output: string;
    /** 0: however much there is. */
    readonly scratchBytes: number;
    /** Home, scratch, output and checkpoints must be there. */
    readonly defaults: boolean;
  };
  /** Its part of a shared node. */
  readonly share?: Share;
  readonly memoryPolicy?: string;
  /** Memory behind expanders may be used. */
  readonly cxlMemory?: boolean;
  /** The domain that its processes are kept in. */
  readonly network?: {
    readonly domain: string;
    readonly vni: number;
    /** Nothing passes but within the domain, and to the gateway, "address:port", where there is one. */
    readonly sensitive?: boolean;
    readonly gateway?: string;
    /** Ports inside that can be reached at the node. */
    readonly exposed?: readonly number[];
  };
  /** It is measured, and its programs may say how they fare. */
  readonly measured?: boolean;
  /** Absent: it takes no checkpoints. */
  readonly checkpoint?: CheckpointPlan;
  /** Files of the job's user that the output is written to as well. */
  readonly output?: OutputFiles;
}

/** Paths with patterns, as they were submitted. */
export interface OutputFiles {
  readonly file: string;
  /** Absent: the same file. */
  readonly errorFile?: string;
  readonly append?: boolean;
  /** Where it cannot be written the attempt runs without. */
  readonly ifPossible?: boolean;
}

export interface CheckpointPlan {
  /** How its program is asked. */
  readonly mode: string;
  /** Where it listens; 0: it says so itself. */
  readonly port: number;
  /** Number of the checkpoint it goes on from; 0: it begins anew. */
  readonly resumeFrom: number;
}

/** Empty: not asked for. */
export interface Software {
  readonly uenv: string;
  readonly view: string;
  readonly toolsUenv: string;
  readonly image: string;
  readonly readOnly: boolean;
  readonly signRequired: boolean;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly access: string;
  /** A file on the node with the keys of a bucket; absent: where its user usually has them. */
  readonly credentials?: string;
}

/** 0: not limited. */
export interface Share {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
}

export type FailureReason =
  | "exit_code"
  | "signal"
  | "walltime_exceeded"
  | "stopped"
  | "launch_failed"
  | "prologue_failed"
  | "oom"
  | "lost"
  | "probe_failed";

export type End =
  | { readonly kind: "completed"; readonly exitCode: 0; readonly message: string; readonly atMs: number }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly exitCode: number | null;
      readonly message: string;
      readonly atMs: number;
      /** Of a node that could not be made ready: where that failed. */
      readonly stage?: string;
    };

/** How the attempt's first process went away. `oom`, in words: the kernel killed some of it for want of memory. */
export type Exit =
  /** `recorded`: the wrapper left the code on disk, so the end can be derived again after a crash. */
  | { readonly kind: "code"; readonly code: number; readonly recorded: boolean; readonly oom?: string }
  /** The wrapper itself was killed, before it could record anything. */
  | { readonly kind: "signal"; readonly number: number; readonly oom?: string }
  /** The command was never started. `stage`: making the node ready for it failed there. */
  | { readonly kind: "not_launched"; readonly message: string; readonly stage?: string }
  /** Gone, and nobody saw how. */
  | { readonly kind: "unseen"; readonly message: string };

/** Why the agent ends an attempt. A stop order beats the walltime. */
export interface Stop {
  readonly cause: "stopped" | "walltime_exceeded" | "probe_failed";
  readonly message: string;
  /** When what is left gets SIGKILL. */
  readonly killAtMs: number;
}

export interface Limits {
  readonly walltimeMs: number | null;
  readonly graceMs: number;
}

export type Attempt =
  /** Ordered, but others are still on the node: no process, no claim, until its turn comes. */
  | { readonly kind: "waiting"; readonly exclusive: boolean; readonly order: Order }
  | { readonly kind: "starting"; readonly exclusive: boolean; readonly limits: Limits }
  | { readonly kind: "running"; readonly exclusive: boolean; readonly limits: Limits; readonly startedAtMs: number }
  | {
      readonly kind: "stopping";
      readonly exclusive: boolean;
      readonly limits: Limits;
      readonly stop: Stop;
      readonly forgotten: boolean;
    }
  /** The process is gone; whatever it left behind is being ended before the end is reported. */
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
  /** Acknowledged; only its logs are kept, until retention takes them. */
  | { readonly kind: "archived"; readonly end: End };

/** An attempt that is in one of these states. */
export type AttemptIn<Kind extends Attempt["kind"]> = Extract<Attempt, { readonly kind: Kind }>;

export type TimerName = "walltime" | "terminate_again" | "kill";

export type Event =
  /** `wait`: others are on the node that it may not be together with. */
  | { readonly kind: "run"; readonly order: Order; readonly wait: boolean }
  /** The node is free for one that waits. */
  | { readonly kind: "turn" }
  | { readonly kind: "stop"; readonly graceMs: number | null; readonly reason: string }
  | { readonly kind: "forget" }
  /** Its liveness probe has failed as often as it may. */
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
export type Effect =
  | { readonly kind: "start"; readonly order: Order }
  | { readonly kind: "report_running"; readonly atMs: number }
  | { readonly kind: "report_end"; readonly end: End }
  | { readonly kind: "remember_order"; readonly order: Order }
  | { readonly kind: "remember_stop"; readonly stop: Stop }
  | { readonly kind: "remember_end"; readonly end: End }
  | { readonly kind: "terminate" }
  | { readonly kind: "kill" }
  | { readonly kind: "clear" }
  | { readonly kind: "archive" }
  | { readonly kind: "arm"; readonly timer: TimerName; readonly atMs: number }
  | { readonly kind: "disarm" };

export const DEFAULT_GRACE_SECONDS = 30;

export const limitsOf = (order: Order): Limits => ({
  walltimeMs: order.walltimeSeconds > 0 ? order.walltimeSeconds * 1000 : null,
  graceMs: (order.graceSeconds > 0 ? order.graceSeconds : DEFAULT_GRACE_SECONDS) * 1000,
});

/** Names an attempt in maps, folders and control groups: "12345.1", "12345_7.2". */
export const attemptKey = (allocationId: string, attempt: number): string => `${allocationId}.${attempt}`;

/** Not over yet: it waits for the node or something of it is on the node. */
export type LiveAttempt = Exclude<Attempt, AttemptIn<"ended" | "archived">>;

export const isLive = (attempt: Attempt): attempt is LiveAttempt =>
  attempt.kind !== "ended" && attempt.kind !== "archived";

export function countByKind(attempts: Iterable<Attempt>): Record<Attempt["kind"], number> {
  const counts = { waiting: 0, starting: 0, running: 0, stopping: 0, clearing: 0, ended: 0, archived: 0 };
  for (const { kind } of attempts) counts[kind] += 1;
  return counts;
}

/** Null: it does not run, or has no limit. */
export function walltimeLeftMs(attempt: Attempt | undefined, nowMs: number): number | null {
  if (attempt?.kind !== "running" || attempt.limits.walltimeMs === null) return null;
  return attempt.startedAtMs + attempt.limits.walltimeMs - nowMs;
}
