// The specification of an allocation, complete and in plain values. `wire` builds it from every submission
// form; `check.ts` says whether it is acceptable; nothing changes it afterwards except the
// `allocation.update` command, which replaces it.

import type { Duration, Instant, NodeId, TenantId, VClusterId } from "../../base/ids.ts";
import type { CheckpointSpec } from "../checkpoint/spec.ts";
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
  /** Ports that others find by name while it runs. Default: none. */
  readonly expose?: readonly ExposedPort[];
  /** The network that it shares with others of its tenant. Default: no named network. */
  readonly networkDomain?: string;
  /** The liveness probe that its nodes run. Default: none. */
  readonly probe?: LivenessProbe;
  /** Made for a terminal, and ended with it. Absent means no. */
  readonly session?: boolean;
  /** Data made visible inside the allocation. Default: none. */
  readonly mounts?: readonly Mount[];
  /** Its folders, beyond what every allocation has. Default: none. */
  readonly data?: DataSpec;
  /** Dependencies that must be met before this may be queued. Default: none. */
  readonly dependsOn?: readonly Dependency[];
  /** How it can be checkpointed. Default: not at all. */
  readonly checkpoint?: CheckpointSpec;
  /** How closely it is measured. Default: as production work is. */
  readonly telemetry?: Telemetry;
  /** Files on the node that also receive the output. Default: none. */
  readonly output?: OutputFiles;
}

export const TELEMETRY_MODES = ["prod", "debug", "audit"] as const;
export type TelemetryMode = (typeof TELEMETRY_MODES)[number];

export interface Telemetry {
  readonly mode: TelemetryMode;
  /** The time at which it returns to prod; `null` when it stays. */
  readonly until: Instant | null;
}

export interface ExposedPort {
  /** Empty: the allocation's own name. */
  readonly name: string;
  readonly port: number;
  /** The protocol, for clients that look the port up. */
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
  /** Default: the same file. */
  readonly errorFile?: string;
  /** Behind what is there, instead of over it. */
  readonly append?: boolean;
  /** Where it cannot be written it runs without. */
  readonly ifPossible?: boolean;
}

/** The program that each node runs. */
export type Task =
  | { readonly kind: "entrypoint"; readonly line: string } // by /bin/sh -c
  | { readonly kind: "command"; readonly words: readonly string[] } // as they are
  | { readonly kind: "script"; readonly text: string }; // by its own interpreter line

export interface Environment {
  readonly variables: Readonly<Record<string, string>>;
  /** Empty: the attempt's own directory. */
  readonly workdir: string;
  /** Images to mount, "name/version:tag" or "name/version:tag:/mount", comma-separated. Default, here and below: none. */
  readonly uenv?: string;
  /** Views of the images, with commas between; their patches are applied in this order. */
  readonly view?: string;
  /** Mounted beside `uenv`, for tools that must not mix with it. */
  readonly toolsUenv?: string;
  /** A container image; not together with `uenv`. */
  readonly image?: string;
  /** Mounts the root file system of the container read-only. */
  readonly readOnly?: boolean;
  /** Every image must carry a signature that the node trusts. */
  readonly signRequired?: boolean;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly access: "read-only" | "read-write";
  readonly tierHint: string;
  /** A file on the node with the keys of a bucket. Default: the user's usual credentials file. */
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
  /** Hard: the most topology groups it may span. Default: unlimited. */
  readonly maxGroups?: number;
  /** Hard: total storage bandwidth while it runs, in megabytes per second. Default: 0. */
  readonly storageMBps?: number;
  /** The memory policy across the NUMA domains of a node. Default: the node's own. */
  readonly memoryPolicy?: MemoryPolicy;
}

export type RequeuePolicy = "never" | "on_node_failure" | "always";

export interface Lifecycle {
  /** Unbounded and reactive are services: they run until they are ended, the latter on as many nodes as they need. */
  readonly kind: "bounded" | "unbounded" | "reactive";
  /** `null` exactly for services. */
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
