// What a node is made of: who it is, how it reaches servers, and what it has of the machine.

import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "./after.ts";
import type { Images } from "./images/images.ts";
import type { Probe } from "./lifecycle/attempt.ts";
import type { Dialer } from "./link/dial.ts";
import type { Identity } from "./link/messages.ts";
import type { Wheel } from "./link/wheel.ts";
import type { Shipper } from "./logs/ship/shipper.ts";
import type { Tally } from "./metrics/tally.ts";
import type { Runtime, RuntimeListener } from "./runtime/runtime.ts";
import type { Facilities } from "./tasks/facilities.ts";
import type { FencePeers } from "./tasks/fence/peers.ts";
import type { GpuLoad } from "./telemetry/gpu-load.ts";

export interface NodeOptions {
  /** All of Hello but the attempts. */
  readonly identity: Identity;
  readonly dialer: Dialer;
  readonly member: number;
  readonly wheel: Wheel;
  readonly random: () => number;
  readonly now: () => number;
  /** The platform's timers unless stated. */
  readonly after?: After;
  readonly log: Logger;
  readonly vitals: () => { load1: number; memoryAvailableGb: number; certificateEndsMs?: number };
  readonly runtime: (listener: RuntimeListener) => Promise<Runtime>;
  /** Notes when output was written, so that it can be asked for by time. */
  readonly keepTimes?: boolean;
  /** Counts for whoever asks; absent: nobody does. */
  readonly tally?: Tally;
  /** Sends output to a store, or keeps the newest of it; absent: all of it stays on the node. */
  readonly shipper?: Shipper;
  /** Absent: it keeps none. */
  readonly images?: Images;
  /** What there is for tasks; absent: this node starts none. */
  readonly facilities?: Facilities;
  /** By which nodes of large launches reach each other; absent: by servers alone. */
  readonly peers?: FencePeers | null;
  /** What of its identity has changed since it began. */
  readonly renewed?: () => Partial<Identity>;
  /** What is known of the machine; absent: it is none. */
  readonly examine?: (fresh: boolean) => Promise<pb.NodeCondition>;
  /** Where checkpoints go; absent: nowhere. */
  readonly checkpointDir?: string;
  /** The checkpoints of an allocation that has ended are removed later. */
  readonly clear?: (allocationId: string, clear: pb.CheckpointsToClear) => Promise<boolean>;
  /** How a service is asked whether it lives, null meaning that it does; absent: over the network. */
  readonly probe?: (probe: Probe, key: string) => Promise<string | null>;
  /** How busy its GPUs are; absent: it has none. */
  readonly gpus?: GpuLoad;
  /** A server has welcomed this node. */
  readonly welcomed?: (welcome: pb.Welcome) => void;
}
