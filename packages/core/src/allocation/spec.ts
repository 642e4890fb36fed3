// What a user asks for, complete and in plain values. `wire` builds it from every submission
// form; `check.ts` says whether it is acceptable; nothing changes it afterwards except the
// `allocation.update` command, which replaces it.

import type { CheckpointSpec } from "../checkpoint/spec.ts";
import type { Duration, Instant, NodeId, TenantId, VClusterId } from "../ids.ts";
import type { Dependency } from "./dependency.ts";

export interface AllocationSpec {
  readonly tenant: TenantId;
  readonly project: string;
  readonly vcluster: VClusterId;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly intent: string;
  readonly task: Task;
  readonly environment: Environment;
  readonly resources: Resources;
  readonly lifecycle: Lifecycle;
  /** Set SLURM_* variables beside LATTICE_*. */
  readonly slurmEnv: boolean;
  /** Ports that others find by name while it runs. Absent: none. */
  readonly expose?: readonly ExposedPort[];
  /** The network that it shares with others of its tenant. Absent: none by name. */
  readonly networkDomain?: string;
  /** How its nodes ask whether it lives. Absent: they do not. */
  readonly probe?: LivenessProbe;
  /** Made for a terminal, and ended with it. Absent means no. */
  readonly session?: boolean;
  /** Data made visible inside the allocation. Absent: none. */
  readonly mounts?: readonly Mount[];
  /** Its folders, beyond what every allocation has. Absent: none. */
  readonly data?: DataSpec;
  /** What must have ended, and how, before this may be queued. Absent: nothing. */
  readonly dependsOn?: readonly Dependency[];
  /** How it can be checkpointed. Absent: it cannot. */
  readonly checkpoint?: CheckpointSpec;
  /** How closely it is measured. Absent: as production work is. */
  readonly telemetry?: Telemetry;
  /** Files on the node that the output is written to as well; absent: none. */
  readonly output?: OutputFiles;
}

export const TELEMETRY_MODES = ["prod", "debug", "audit"] as const;
export type TelemetryMode = (typeof TELEMETRY_MODES)[number];

export interface Telemetry {
  readonly mode: TelemetryMode;
  /** Then it is back to prod; null: it stays. */
  readonly until: Instant | null;
}

export interface ExposedPort {
  /** Empty: the allocation's own name. */
  readonly name: string;
  readonly port: number;
  /** What it speaks, for those who look it up. Absent: not said. */
  readonly protocol?: string;
}

export const PORT_PROTOCOLS: readonly string[] = ["tcp", "udp", "http", "https", "grpc"];

/** For ports of allocations without a name. */
export const DEFAULT_PORT_NAME = "service";

export interface LivenessProbe {
  readonly kind: "tcp" | "http";
  readonly port: number;
  /** For http; begins with a slash. */
  readonly path: string;
  readonly period: Duration;
  readonly initialDelay: Duration;
  /** Failures in a row that end the attempt. */
  readonly failureThreshold: number;
  readonly timeout: Duration;
}

/** Paths may hold %j and its like, which the node fills in; a relative one begins at the working directory. */
export interface OutputFiles {
  readonly file: string;
  /** Absent: the same file. */
  readonly errorFile?: string;
  /** Behind what is there, instead of over it. */
  readonly append?: boolean;
  /** Where it cannot be written it runs without. */
  readonly ifPossible?: boolean;
}

/** What each node runs. */
export type Task =
  | { readonly kind: "entrypoint"; readonly line: string } // by /bin/sh -c
  | { readonly kind: "command"; readonly words: readonly string[] } // as they are
  | { readonly kind: "script"; readonly text: string }; // by its own interpreter line

export interface Environment {
  readonly variables: Readonly<Record<string, string>>;
  /** Empty: the attempt's own directory. */
  readonly workdir: string;
  /** Images to mount, "name/version:tag" or "name/version:tag:/mount", with commas between. Absent: none, here and below. */
  readonly uenv?: string;
  /** Views of the images, with commas between; their patches are applied in this order. */
  readonly view?: string;
  /** Mounted beside `uenv`, for tools that must not mix with it. */
  readonly toolsUenv?: string;
  /** A container image; not together with `uenv`. */
  readonly image?: string;
  /** Nobody writes to the container's root file system. */
  readonly readOnly?: boolean;
  /** Every image must carry a signature that the node trusts. */
  readonly signRequired?: boolean;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly access: "read-only" | "read-write";
  readonly tierHint: string;
  /** A file on the node with the keys of a bucket; absent: where its user usually has them. */
  readonly credentials?: string;
}

/** Each absent where it was not asked for. */
export interface DataSpec {
  /** A path that every node sees, or s3://; with placeholders. */
  readonly output?: string;
  /** Must be free on each node. */
  readonly scratchBytes?: number;
  /** Home, scratch, output and checkpoint folders must be there. */
  readonly defaults?: boolean;
}

export type MemoryPolicy = "local" | "interleave" | "preferred" | "bind";

export interface Resources {
  /** An exact count has minNodes equal to maxNodes. */
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly tasksPerNode: number;
  readonly constraints: Constraints;
}

export interface Constraints {
  /** Empty: any. Compared without case. */
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly memoryBytes: number;
  readonly cpuCores: number;
  readonly features: readonly string[];
  readonly topology: "any" | "tight";
  /** Every placement contains all of these. */
  readonly requiredNodes: readonly NodeId[];
  readonly excludedNodes: readonly NodeId[];
  /** Hard: all nodes have one known fingerprint. Absent means no, here and below. */
  readonly requireConformance?: boolean;
  /** Hard: CPU and GPU share one address space. */
  readonly requireUnifiedMemory?: boolean;
  /** Soft: cores and GPUs in one memory domain. */
  readonly preferSameNuma?: boolean;
  /** Memory behind CXL expanders may count towards `memoryBytes`. */
  readonly allowCxlMemory?: boolean;
  /** Hard: the most topology groups it may span; absent: any number. */
  readonly maxGroups?: number;
  /** Hard: megabytes per second of storage that all of it together uses while it runs; absent: none to speak of. */
  readonly storageMBps?: number;
  /** How memory is spread over the domains of a node. Absent: the node's own way. */
  readonly memoryPolicy?: MemoryPolicy;
}

export type RequeuePolicy = "never" | "on_node_failure" | "always";

export interface Lifecycle {
  /** Unbounded and reactive are services: they run until they are ended, the latter on as many nodes as they need. */
  readonly kind: "bounded" | "unbounded" | "reactive";
  /** Null exactly for services. */
  readonly walltime: Duration | null;
  readonly preemptionClass: number;
  readonly requeuePolicy: RequeuePolicy;
  readonly maxRequeue: number;
  /** It is never stopped for others. Absent means no. */
  readonly noPreempt?: boolean;
  /** Present exactly for reactive. */
  readonly scale?: ScalePolicy;
}

/** How closely it is measured at this time. */
export const telemetryOf = ({ telemetry }: Pick<AllocationSpec, "telemetry">, at: Instant): TelemetryMode =>
  telemetry === undefined || (telemetry.until !== null && telemetry.until <= at) ? "prod" : telemetry.mode;

/** Between which bounds, and by what, a reactive service grows and shrinks. */
export interface ScalePolicy {
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly metric: string;
  /** Thousandths. */
  readonly targetMilli: number;
  readonly evaluationInterval: Duration;
  /** The metric must be above the target for so long. */
  readonly upWindow: Duration;
  /** And below the threshold for so long. */
  readonly downWindow: Duration;
  /** Of the target, in thousandths. */
  readonly downThresholdMilli: number;
  /** After a change nothing is changed for so long. */
  readonly cooldown: Duration;
}

export const isService = ({ kind }: Lifecycle): boolean => kind !== "bounded";
