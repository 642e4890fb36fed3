// The options of a node: its identity, how it reaches servers, and which parts of the machine it uses.

import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { Images } from "../images/images.ts";
import type { Dialer } from "../link/dial.ts";
import type { HeartbeatTimer } from "../link/heartbeat-timer.ts";
import type { KnownCluster } from "../link/known-cluster.ts";
import type { NodeIdentity } from "../link/messages.ts";
import type { Shipper } from "../logs/ship/shipper.ts";
import type { Tally } from "../metrics/tally.ts";
import type { Runtime, RuntimeListener } from "../runtime/base/runtime.ts";
import type { Facilities } from "../tasks/facilities.ts";
import type { FencePeers } from "../tasks/fence/peers.ts";
import type { GpuLoad } from "../telemetry/gpu-load.ts";

export interface NodeOptions {
  /** All of Hello but the attempts. */
  readonly identity: NodeIdentity;
  readonly dialer: Dialer;
  readonly member: number;
  readonly heartbeatTimer: HeartbeatTimer;
  readonly random: () => number;
  readonly now: () => number;
  /** The platform's timers unless stated. */
  readonly after?: After;
  readonly log: Logger;
  readonly vitals: () => { load1: number; memoryAvailableGb: number; certificateEndsMs?: number };
  readonly runtime: (listener: RuntimeListener) => Promise<Runtime>;
  /** Records when output was written, so that it can be requested by time. */
  readonly keepTimes?: boolean;
  /** Counters for the metrics page. Default: none. */
  readonly tally?: Tally;
  /** Sends output to a store or keeps the newest part of it. Default: all output stays on the node. */
  readonly shipper?: Shipper;
  /** Default: the node keeps no images. */
  readonly images?: Images;
  /** Default: the node starts no tasks. */
  readonly facilities?: Facilities;
  /** Direct exchange between nodes of large launches. Default: through servers only. */
  readonly peers?: FencePeers | null;
  /** Changes of its identity since the start. */
  readonly renewed?: () => Partial<NodeIdentity>;
  /** Default: the node is simulated and has no condition. */
  readonly examine?: (fresh: boolean) => Promise<pb.NodeCondition>;
  /** Root folder of checkpoints. Default: none. */
  readonly checkpointDir?: string;
  /** The checkpoints of an allocation that has ended are removed later. */
  readonly clear?: (allocationId: string, clear: pb.CheckpointsToClear) => Promise<boolean>;
  /** The other nodes of a network domain. Default: the node has no overlay. */
  readonly networkPeers?: (peers: pb.NetworkPeers) => void;
  /** Resolves to null when the service is healthy. Default: over the network. */
  readonly probe?: (probe: pb.LivenessProbe, key: string) => Promise<string | null>;
  /** Utilization of its GPUs. Default: the node has none. */
  readonly gpus?: GpuLoad;
  /** Returns why this node must not serve the cluster of a server that welcomes it, or null. Default: it serves any. */
  readonly objection?: (welcome: pb.Welcome) => string | null;
  /** Default: a node that stores no cluster. */
  readonly cluster?: KnownCluster;
  /** A server has welcomed this node. */
  readonly welcomed?: (welcome: pb.Welcome) => void;
}
