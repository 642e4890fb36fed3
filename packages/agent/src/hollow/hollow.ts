// Many simulated nodes in one process, for load tests: each has its own stream, node id and
// heartbeats, over a few shared connections, and they arrive spread out rather than all at once.

import type { Logger } from "pino";
import type { Dialer } from "../link/dial.ts";
import type { Wheel } from "../link/wheel.ts";
import { startNode } from "../node.ts";
import type { Node } from "../node-handle.ts";
import type { NodeOptions } from "../node-options.ts";
import { simulatedRuntime } from "./simulated-runtime.ts";

export interface HollowOptions {
  readonly count: number;
  readonly prefix: string;
  readonly runtimeMs: number;
  /** Every so many nodes form one topology group. */
  readonly nodesPerGroup: number;
  readonly identity: NodeOptions["identity"];
  readonly dialer: Dialer;
  readonly wheel: Wheel;
  readonly random: () => number;
  readonly log: Logger;
}

export const NODES_PER_CHANNEL = 500;

export async function startHollowNodes(options: HollowOptions): Promise<readonly Node[]> {
  const width = String(options.count).length;
  const quiet = options.log.child({}, { level: "warn" });
  return Promise.all(
    Array.from({ length: options.count }, (_, index) => {
      const nodeId = `${options.prefix}${String(index + 1).padStart(width, "0")}`;
      return startNode({
        identity: {
          ...options.identity,
          nodeId,
          group: `${options.identity.group}-${Math.floor(index / options.nodesPerGroup)}`,
        },
        dialer: options.dialer,
        member: index,
        wheel: options.wheel,
        random: options.random,
        now: Date.now,
        log: quiet,
        vitals: () => HOLLOW_VITALS,
        runtime: async (listener) => simulatedRuntime(options.runtimeMs, listener),
      });
    }),
  );
}

const HOLLOW_VITALS = { load1: 0, memoryAvailableGb: 0 };
