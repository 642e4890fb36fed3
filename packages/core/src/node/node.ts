// Nodes, their states with the table of legal moves, and the claims that allocations hold on
// them. A claim outlives its allocation's phase: a cancelled allocation keeps its claims, marked
// `releasing`, until each node has confirmed that nothing of that attempt is left there.

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
} from "../ids.ts";
import type { GpuTopology, MemoryTopology } from "./topology.ts";

export type NodeStateKind = "unknown" | "booting" | "ready" | "degraded" | "draining" | "drained" | "down" | "failed";

/** Only `silent` heals by a heartbeat. */
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
      /** Not drained but set aside until then, as soon as what runs there has ended. Absent: drained. */
      readonly asideUntil?: Instant;
    }
  | { readonly kind: "drained"; readonly since: Instant; readonly reason: string }
  | {
      readonly kind: "down";
      readonly since: Instant;
      readonly cause: DownCause;
      readonly reason: string;
      /** Where a heartbeat or `enable` brings it back to. */
      readonly back: "ready" | "drained";
      /** Set aside for what failed there, it is tried again then. Absent: not by itself. */
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
  /** What it can run attempts in and limit them by; absent: not told. */
  readonly runtimes?: readonly string[];
  /** Memory behind CXL expanders, beyond `memoryBytes`; absent: none. */
  readonly cxlMemoryBytes?: number;
  /** Draw under load; absent: unknown, and not counted against a power budget. */
  readonly powerWatts?: number;
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
}

/** A part of a node. */
export interface Share {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  /** Of the whole node, in parts of 1024: the largest of the three. Sums of such parts are exact. */
  readonly part: number;
}

export interface Claim {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly tenant: TenantId;
  readonly vcluster: VClusterId;
  /** An exclusive claim is the only one on its node. */
  readonly exclusive: boolean;
  /** The attempt is over or to be ended; the node has yet to confirm that nothing is left. */
  readonly releasing: boolean;
  readonly since: Instant;
  /** Its part of a node that is shared; absent exactly for an exclusive claim. */
  readonly share?: Share;
  /** Between SIGTERM and SIGKILL while releasing; absent: the usual. */
  readonly grace?: Duration;
}

export interface Node {
  readonly id: NodeId;
  readonly state: NodeState;
  readonly capabilities: Capabilities;
  readonly group: GroupId;
  /** Fingerprint of the node's configuration; empty when unknown. */
  readonly conformance: string;
  /** Null: serves all vClusters. */
  readonly homeVCluster: VClusterId | null;
  /** Somebody has said so, and the agent's own word does not count. Absent: it does. */
  readonly homeAssigned?: true;
  readonly address: string;
  readonly agentVersion: string;
  readonly bootId: string;
  readonly registeredAt: Instant;
  readonly claims: readonly Claim[];
  /** What failed there of late, without a success in between. Absent: nothing. */
  readonly faults?: readonly Fault[];
  /** Its configuration is not what was expected. Absent: it is. */
  readonly drift?: { readonly expected: string; readonly since: Instant };
  /** Somebody who watches its hardware has warned of it, and has not yet said that it is well. Absent: nobody has. */
  readonly warning?: { readonly reason: string; readonly since: Instant };
}

export interface Fault {
  readonly allocation: AllocationId;
  readonly user: UserName;
  /** It says something about the node rather than the work. */
  readonly own: boolean;
  /** From its placement on, where it is not the node's own. Absent: at once. */
  readonly after?: Duration;
}
