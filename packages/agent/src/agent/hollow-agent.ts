// An agent that simulates many nodes in one process, for load tests.

import { sysfs } from "../discovery/base/sysfs.ts";
import { components, fingerprint } from "../discovery/fingerprint.ts";
import { NO_GPUS } from "../discovery/gpus/base/inventory.ts";
import { discoverBootId, discoverHardware } from "../discovery/hardware.ts";
import { keepCensus } from "../hollow/census.ts";
import { NODES_PER_CHANNEL, startHollowNodes } from "../hollow/hollow.ts";
import { credentialsOf } from "../identity/credentials.ts";
import { findIdentity } from "../identity/find.ts";
import { dialer } from "../link/dial.ts";
import { heartbeatTimer } from "../link/heartbeat-timer.ts";
import type { AgentNode } from "../node/node-handle.ts";
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
