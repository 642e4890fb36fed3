// The spec of an allocation, complete and in plain values. `wire` builds it from every form of submission; `check.ts`
// validates it; only the `allocation.update` command replaces it.

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
  /** Set SLURM_* variables in addition to LATTICE_*. */
  readonly slurmEnv: boolean;
  /** Ports registered by name while it runs. Default: none. */
  readonly expose?: readonly ExposedPort[];
  /** The network that it shares with others of its tenant. Default: no named network. */
  readonly networkDomain?: string;
  /** The liveness probe that its nodes run. Default: none. */
  readonly probe?: LivenessProbe;
  /** Created for a session, and ends with it. Default: false. */
  readonly session?: boolean;
  /** Data made visible inside the allocation. Default: none. */
  readonly mounts?: readonly Mount[];
  /** Additional directories. Default: none. */
  readonly data?: DataSpec;
  /** Dependencies that must be met before this may be queued. Default: none. */
  readonly dependsOn?: readonly Dependency[];
  /** How it can be checkpointed. Default: not at all. */
  readonly checkpoint?: CheckpointSpec;
  /** The telemetry mode. Default: `prod`. */
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

/** The name of ports of allocations without a name. */
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

/** Paths may contain patterns such as %j, which the node fills in; relative paths start at the working directory. */
export interface OutputFiles {
  readonly file: string;
  /** Default: the same file. */
  readonly errorFile?: string;
  /** Append instead of truncate. */
  readonly append?: boolean;
  /** Run without the file if it cannot be written. */
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
  /** Views of the images, comma-separated, applied in this order. */
  readonly view?: string;
  /** Mounted in addition to `uenv`, for tools that must not mix with it. */
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

/** Fields that were not requested are absent. */
export interface DataSpec {
  /** A path shared by all nodes, or s3://; may contain placeholders. */
  readonly output?: string;
  /** Required free space on each node. */
  readonly scratchBytes?: number;
  /** Home, scratch, output and checkpoint directories must exist. */
  readonly defaults?: boolean;
}

type MemoryPolicy = "local" | "interleave" | "preferred" | "bind";

export interface Resources {
  /** An exact count has minNodes equal to maxNodes. */
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly tasksPerNode: number;
  readonly constraints: Constraints;
  /** Shares its nodes with no other work. Default: false. */
  readonly exclusive?: boolean;
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
  /** Hard: all nodes have the same known fingerprint. Default, here and below: false. */
  readonly requireConformance?: boolean;
  /** Hard: CPU and GPU share one address space. */
  readonly requireUnifiedMemory?: boolean;
  /** Soft: cores and GPUs in one memory domain. */
  readonly preferSameNuma?: boolean;
  /** Memory behind CXL expanders counts towards `memoryBytes`. */
  readonly allowCxlMemory?: boolean;
  /** Hard: maximum number of topology groups. Default: unlimited. */
  readonly maxGroups?: number;
  /** Hard: total storage bandwidth while it runs, in megabytes per second. Default: 0. */
  readonly storageMBps?: number;
  /** The memory policy across the NUMA domains of a node. Default: the node's own. */
  readonly memoryPolicy?: MemoryPolicy;
}

export type RequeuePolicy = "never" | "on_node_failure" | "always";

export interface Lifecycle {
  /** Unbounded and reactive work are services, which run until they are ended; a reactive one scales. */
  readonly kind: "bounded" | "unbounded" | "reactive";
  /** `null` exactly for services. */
  readonly walltime: Duration | null;
  readonly preemptionClass: number;
  readonly requeuePolicy: RequeuePolicy;
  readonly maxRequeue: number;
  /** Never preempted. Default: false. */
  readonly noPreempt?: boolean;
  /** Present exactly for reactive. */
  readonly scale?: ScalePolicy;
}

/** The telemetry mode for a limited time. */
export const telemetryOf = ({ telemetry }: Pick<AllocationSpec, "telemetry">, at: Instant): TelemetryMode =>
  telemetry === undefined || (telemetry.until !== null && telemetry.until <= at) ? "prod" : telemetry.mode;

/** The bounds and the metric by which a reactive service scales. */
export interface ScalePolicy {
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly metric: string;
  /** Thousandths. */
  readonly targetMilli: number;
  readonly evaluationInterval: Duration;
  /** How long the metric must be above the target. */
  readonly upWindow: Duration;
  /** How long the metric must be below the threshold. */
  readonly downWindow: Duration;
  /** The threshold, in thousandths of the target. */
  readonly downThresholdMilli: number;
  /** No change for this long after a change. */
  readonly cooldown: Duration;
}

export const isService = ({ kind }: Lifecycle): boolean => kind !== "bounded";
