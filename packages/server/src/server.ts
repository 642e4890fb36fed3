// Puts the rooms of a server together and takes them apart again in the right order: log, history,
// replica, leader, agents, API up; API, agents, leader, snapshot, history, log down.

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { VClusterId } from "@lattice/core";
import { duration } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { ConnectContext } from "./agents/connect.ts";
import { createAgentHub } from "./agents/hub.ts";
import { createLogRelay } from "./agents/logs.ts";
import { agentService } from "./agents/service.ts";
import { startApi } from "./api/index.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Config, formatListen, type HowToBegin, logConfigOf } from "./config/index.ts";
import { archiveTo } from "./history/archive.ts";
import { openHistory } from "./history/index.ts";
import { startLeading } from "./leader/lead.ts";
import { openLog } from "./log/index.ts";
import { createMetrics, type Logger } from "./observe/index.ts";
import { mirrorState } from "./observe/mirror.ts";
import { formatPeer, type PeerName } from "./peers/address.ts";
import { createLeaderLine } from "./peers/line.ts";
import { peerService } from "./peers/service.ts";
import { createPlane } from "./plane.ts";
import { openReplica } from "./replica/replica.ts";
import { startSnapshotter } from "./replica/snapshotter.ts";

export interface RunningServer {
  readonly rest: string;
  readonly grpc: string;
  /** Resolves with the reason when the server cannot go on by itself. */
  readonly failed: Promise<unknown>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly clock?: Clock;
  /** How a log member of our own begins when it has no data yet. */
  readonly begin?: HowToBegin;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, logger, version } = options;
  const clock = options.clock ?? systemClock;
  const onWarning = (message: string) => logger.warn(message);
  mkdirSync(config.server.dataDir, { recursive: true });

  const metrics = createMetrics();
  const log = await openLog(logConfigOf(config, options.begin ?? "resume", onWarning));
  const history = await openHistory({ dir: join(config.server.dataDir, "history"), onWarning });
  const replica = await openReplica(log, archiveTo(history, logger));

  const shared = config.quorum.engine === "etcd";
  const self: PeerName = {
    id: config.server.id,
    address: formatListen(config.api.grpcListen),
    token: randomBytes(16).toString("hex"),
  };
  const hub = createAgentHub(clock);
  const logs = createLogRelay(hub, clock);
  const cycles = new Map<VClusterId, CycleResult>();
  const leader = startLeading({
    candidate: shared ? formatPeer(self) : config.server.id,
    log,
    replica,
    hub,
    clock,
    logger,
    metrics,
    retention: config.retention,
    backfillDepth: config.scheduling.backfillDepth,
    minCycleGap: duration(config.scheduling.minCycleMs),
    heartbeatTimeout: config.nodeAgent.heartbeatTimeout,
    gracePeriod: config.nodeAgent.gracePeriod,
    onCycle: (result) => void cycles.set(result.vcluster, result),
  });
  const snapshotter = startSnapshotter({
    log,
    replica,
    history,
    logger,
    everyEntries: config.quorum.snapshotEveryEntries,
    mayTake: () => !shared || leader.sequencer() !== null,
  });
  const line = createLeaderLine({ selfId: config.server.id, holder: () => log.status().leader, clock });
  // With one server, serving before leading would only answer 503; one of several may never lead.
  if (!shared) await Promise.race([leader.led, replica.failed]);
  const plane = createPlane({
    serverId: config.server.id,
    version,
    log,
    replica,
    leader,
    line,
    hub,
    logs,
    history,
    clock,
    cycles,
  });
  mirrorState(metrics, { replica, hub, history });

  const context: ConnectContext = {
    view: () => replica.view,
    propose: (command) => plane.propose(command),
    hub,
    clock,
    logger,
    serverVersion: version,
    heartbeatIntervalMs: config.nodeAgent.heartbeatInterval,
  };
  const api = await startApi({
    plane,
    config,
    logger,
    metrics,
    extraGrpcServices: [
      agentService({ context, leader, line, logs }),
      ...(shared ? [peerService({ leader, replica, hub, logs, token: self.token })] : []),
    ],
  });

  return {
    rest: api.restAddress,
    grpc: api.grpcAddress,
    failed: replica.failed.catch((error: unknown) => error),
    async close() {
      // First: another server takes over at once, and calls under way here are passed on to it.
      await leader.close();
      await api.close();
      line.close();
      await snapshotter.now();
      await snapshotter.close();
      await replica.close();
      await history.close();
      await log.close();
    },
  };
}
