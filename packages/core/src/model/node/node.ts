// Nodes, their states with the table of legal moves, and claims. A claim outlives its allocation's phase: a cancelled
// allocation keeps its claims, marked `releasing`, until each node has confirmed that nothing of the attempt is left.

import type {
  AllocationId,
  Attempt,
  Duration,
  GroupId,
  Instant,
  NodeId,
  TenantId,
  UserName,
  VClusterId,
} from "../../base/ids.ts";
import type { GpuTopology, MemoryTopology } from "./topology.ts";

export type NodeStateKind = "unknown" | "booting" | "ready" | "degraded" | "draining" | "drained" | "down" | "failed";

/** Only `silent` ends by a heartbeat. */
export type DownCause = "silent" | "disabled" | "quarantined" | "hardware";

export type NodeState =
  | { readonly kind: "unknown"; readonly since: Instant }
  | { readonly kind: "booting"; readonly since: Instant }
  | { readonly kind: "ready"; readonly since: Instant }
  | { readonly kind: "degraded"; readonly since: Instant; readonly cause: "silent" }
  | {
      readonly kind: "draining";
      readonly since: Instant;
      readonly reason: string;
      /** The node is quarantined until this time once its work has ended. Missing when it is only drained. */
      readonly quarantineUntil?: Instant;
    }
  | { readonly kind: "drained"; readonly since: Instant; readonly reason: string }
  | {
      readonly kind: "down";
      readonly since: Instant;
      readonly cause: DownCause;
      readonly reason: string;
      /** The state to which a heartbeat or `enable` returns it. */
      readonly back: "ready" | "drained";
      /** The end of a quarantine for failed work. Missing when the node does not return by itself. */
      readonly until?: Instant;
    }
  | { readonly kind: "failed"; readonly since: Instant; readonly reason: string };

export const nodeMoves = {
  unknown: ["booting", "ready", "failed", "down"],
  booting: ["ready", "failed", "down"],
  ready: ["degraded", "draining", "down"],
  degraded: ["ready", "down", "draining"],
  draining: ["drained", "down"],
  drained: ["ready", "booting", "down"],
  down: ["ready", "drained", "booting", "failed", "down"],
  failed: ["booting", "down"],
} as const satisfies Record<NodeStateKind, readonly NodeStateKind[]>;

export interface Capabilities {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  /** Empty: none. */
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly features: readonly string[];
  readonly hostname: string;
  readonly kernel: string;
  readonly isolation: string;
  readonly hollow: boolean;
  /** Supported runtimes and resource limits. Missing when the agent did not report them. */
  readonly runtimes?: readonly string[];
  /** Memory behind CXL expanders, beyond `memoryBytes`. Default: 0. */
  readonly cxlMemoryBytes?: number;
  /** Power under load. Missing when unknown; it then does not count against a power budget. */
  readonly powerWatts?: number;
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
}

/** A part of a node. */
export interface Share {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  /** The fraction of the node in 1024ths: the largest of the three. Sums are exact. */
  readonly part: number;
}

export interface Claim {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly tenant: TenantId;
  readonly vcluster: VClusterId;
  /** An exclusive claim is the only one on its node, apart from claims behind it. */
  readonly exclusive: boolean;
  /** The attempt is over or being ended, and the node has not confirmed the cleanup. */
  readonly releasing: boolean;
  readonly since: Instant;
  /** Its share of the node; absent for an exclusive claim. */
  readonly share?: Share;
  /**
   * An element behind others of its group: the node is not its own before the claims in front of it are gone, and its
   * attempt waits there for its turn. Default: it owns the node.
   */
  readonly behind?: true;
  /** Between SIGTERM and SIGKILL while releasing. Default: the usual grace. */
  readonly grace?: Duration;
}

export interface Node {
  readonly id: NodeId;
  readonly state: NodeState;
  readonly capabilities: Capabilities;
  readonly group: GroupId;
  /** Fingerprint of the node's configuration; empty when unknown. */
  readonly conformance: string;
  /** `null` when the node serves all vClusters. */
  readonly homeVCluster: VClusterId | null;
  /** Set when an administrator assigned the home; the agent's own report of it is then ignored. */
  readonly homeAssigned?: true;
  readonly address: string;
  readonly agentVersion: string;
  readonly bootId: string;
  readonly registeredAt: Instant;
  readonly claims: readonly Claim[];
  /** Recent failures there, without a success in between. Default: none. */
  readonly faults?: readonly Fault[];
  /** Present while its configuration differs from the expected one. */
  readonly drift?: { readonly expected: string; readonly since: Instant };
  /** The open warning of a hardware monitor. */
  readonly warning?: { readonly reason: string; readonly since: Instant };
}

export interface Fault {
  readonly allocation: AllocationId;
  readonly user: UserName;
  /** The failure counts against the node rather than the work. */
  readonly own: boolean;
  /** Time from placement to failure, for failures that are not the node's own. Default: 0. */
  readonly after?: Duration;
}
