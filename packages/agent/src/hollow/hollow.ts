// Many simulated nodes in one process, for load tests. Each has its own stream, node id and heartbeats over a few
// shared connections, and their arrival is spread out.

import type { Logger } from "pino";
import type { Dialer } from "../link/dial.ts";
import type { HeartbeatTimer } from "../link/heartbeat-timer.ts";
import { startNode } from "../node/node.ts";
import type { AgentNode } from "../node/node-handle.ts";
import type { NodeOptions } from "../node/node-options.ts";
import { simulatedRuntime } from "./simulated-runtime.ts";

interface HollowOptions {
  readonly count: number;
  readonly prefix: string;
  readonly runtimeMs: number;
  /** Number of nodes in one topology group. */
  readonly nodesPerGroup: number;
  readonly identity: NodeOptions["identity"];
  readonly dialer: Dialer;
  readonly heartbeatTimer: HeartbeatTimer;
  readonly random: () => number;
  readonly log: Logger;
}

export const NODES_PER_CHANNEL = 500;

export async function startHollowNodes(options: HollowOptions): Promise<readonly AgentNode[]> {
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
        heartbeatTimer: options.heartbeatTimer,
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
