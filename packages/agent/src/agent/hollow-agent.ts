// An agent that simulates many nodes in one process, for load tests.

import type { Logger } from "pino";
import { sysfs } from "../discovery/base/sysfs.ts";
import { components, fingerprint } from "../discovery/fingerprint.ts";
import { NO_GPUS } from "../discovery/gpus/base/inventory.ts";
import { discoverBootId, discoverHardware } from "../discovery/hardware.ts";
import { keepCensus } from "../hollow/census.ts";
import { simulatedRuntime } from "../hollow/simulated-runtime.ts";
import { credentialsOf } from "../identity/credentials.ts";
import { findIdentity } from "../identity/find.ts";
import { type Dialer, dialer } from "../link/dial.ts";
import { type HeartbeatTimer, heartbeatTimer } from "../link/heartbeat-timer.ts";
import { startNode } from "../node/node.ts";
import type { AgentNode } from "../node/node-handle.ts";
import type { NodeOptions } from "../node/node-options.ts";
import type { AgentOptions } from "../options/options.ts";
import { describeNode } from "./describe.ts";
import type { Agent, AgentContext } from "./handle.ts";

export async function startHollow(
  options: AgentOptions,
  hollow: NonNullable<AgentOptions["hollow"]>,
  { log, version }: AgentContext,
): Promise<Agent> {
  const hardware = discoverHardware(options.hardware);
  const { servers, token } = options;
  const found = await findIdentity(options.identity, log, { token: token !== undefined });
  const how = credentialsOf(found?.source ?? null, options.secure, options.identity.authority);
  const dial = dialer({ servers, membersPerChannel: NODES_PER_CHANNEL, token, credentials: how });
  const beats = heartbeatTimer(Math.random);
  log.info({ nodes: hollow.count, servers: options.servers }, "starting hollow nodes");
  const nodes = await startHollowNodes({
    ...hollow,
    identity: describeNode(options, hardware, {
      version,
      bootId: discoverBootId(),
      isolation: "process_group",
      hollow: true,
      runtimes: [],
      conformance: fingerprint(
        components(sysfs(), { ...hardware, gpus: NO_GPUS, nics: [], baseImage: options.discovery.baseImage }),
      ),
    }),
    dialer: dial,
    heartbeatTimer: beats,
    random: Math.random,
    log,
  });
  const sum = (count: (node: AgentNode) => number): number => nodes.reduce((total, node) => total + count(node), 0);
  const endCensus = keepCensus(nodes, log);
  return {
    connected: () => sum((node) => Number(node.connected())),
    live: () => sum((node) => node.live()),
    failed: new Promise(() => undefined),
    async close() {
      endCensus();
      await Promise.all(nodes.map((node) => node.close()));
      beats.close();
      dial.close();
    },
  };
}

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

const NODES_PER_CHANNEL = 500;

async function startHollowNodes(options: HollowOptions): Promise<readonly AgentNode[]> {
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
