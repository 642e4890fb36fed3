// What a submission says, as the REST interface takes it. Most fields are optional: the server fills in defaults.

import type { Dependency, TaskGroupRange } from "./group-types.ts";

export interface NodeCount {
  readonly min?: number;
  readonly max?: number;
}

export interface Constraints {
  readonly gpu_type?: string;
  readonly gpu_count?: number;
  readonly memory_gb?: number;
  readonly features?: readonly string[];
  readonly topology?: "any" | "tight";
  readonly required_nodes?: readonly string[];
  readonly excluded_nodes?: readonly string[];
  readonly cpu_cores?: number;
  readonly [other: string]: unknown;
}

export interface Environment {
  readonly uenv?: string;
  readonly view?: string;
  readonly image?: string;
  readonly tools_uenv?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly workdir?: string;
}

export interface Lifecycle {
  readonly type?: "bounded" | "unbounded" | "reactive";
  readonly walltime_seconds?: number;
  /** Short form of `walltime_seconds`, for example "72h". */
  readonly walltime?: string;
  readonly preemption_class?: number;
  readonly requeue_policy?: "never" | "on_node_failure" | "always";
  readonly max_requeue?: number;
  readonly scale_policy?: ScalePolicy;
}

/** Of a reactive service. What is left out is the usual. */
export interface ScalePolicy {
  readonly min?: number;
  readonly max?: number;
  readonly metric?: string;
  /** A number, "80%" or a duration such as "250ms". */
  readonly target?: string;
  readonly evaluation_interval_seconds?: number;
  readonly scale_up_window_seconds?: number;
  readonly scale_down_window_seconds?: number;
  readonly scale_down_threshold?: number;
  readonly cooldown_seconds?: number;
}

/** Whether a service lives. What is left out is the usual. */
export interface LivenessProbe {
  readonly probe_type?: "tcp" | "http";
  readonly port: number;
  /** For http. */
  readonly path?: string;
  readonly period_secs?: number;
  readonly initial_delay_secs?: number;
  /** Failures in a row that end the attempt. */
  readonly failure_threshold?: number;
  readonly timeout_secs?: number;
}

export interface AllocationSpec {
  readonly tenant?: string;
  readonly project?: string;
  readonly vcluster?: string;
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** train, serve, interactive and the like: a vCluster is chosen by it when none is named. */
  readonly intent?: string;
  readonly telemetry?: { readonly mode?: string; readonly until?: string };
  readonly environment?: Environment;
  /** A command line, run by /bin/sh -c. Exactly one of entrypoint, command and script. */
  readonly entrypoint?: string;
  /** Words, run as they are. */
  readonly command?: readonly string[];
  /** A whole script, run by its own interpreter line. */
  readonly script?: string;
  readonly resources?: {
    readonly nodes?: number | NodeCount;
    readonly constraints?: Constraints;
    readonly tasks_per_node?: number;
  };
  readonly lifecycle?: Lifecycle;
  readonly liveness_probe?: LivenessProbe;
  readonly slurm_env?: boolean;
  /** Files on the node that its output is written to as well. */
  readonly output?: { readonly file?: string; readonly error_file?: string; readonly append?: boolean };
  readonly depends_on?: readonly Dependency[];
  readonly task_group?: TaskGroupRange;
}

/** The full form `{ allocation: {...} }`, or the short, flat one; the server checks both. */
export type Submission = { readonly allocation: AllocationSpec } | Readonly<Record<string, unknown>>;
