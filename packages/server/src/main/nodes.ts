// The leader's side of the agents: their sessions, and everything that passes through them. A follower has the same
// parts, empty, since it may lead at any time.

import { duration } from "@lattice/core";
import type { Config } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import { createMeasures } from "../lead/telemetry/measures.ts";
import { createSamples } from "../lead/telemetry/samples.ts";
import { createCheckpointBoard } from "../nodes/agents/checkpoint-board.ts";
import { createAgentHub } from "../nodes/agents/hub.ts";
import { createImageRelay } from "../nodes/agents/images.ts";
import { createLogRelay } from "../nodes/agents/logs.ts";
import { fabricManager } from "../nodes/fabric/credentials.ts";
import { Launches } from "../nodes/tasks/launches.ts";
import { createTerminalRelay } from "../nodes/terminals/relay.ts";
import type { ApiUrls } from "../peers/api-urls.ts";
import type { Storage } from "./storage.ts";

/** Measurements of an agent expire after this many heartbeats. */
const MEASUREMENT_HEARTBEATS = 4;

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes(
  { clock, metrics, replica, live }: Storage,
  { config, logger, apiUrls }: { readonly config: Config; readonly logger: Logger; readonly apiUrls: ApiUrls },
) {
  const hub = createAgentHub(clock);
  const fabric = config.fabric === null ? null : fabricManager(config.fabric, { logger, counted: metrics.fabric });
  return {
    hub,
    logs: createLogRelay(hub, clock),
    images: createImageRelay(hub, clock),
    board: createCheckpointBoard(),
    samples: createSamples(clock),
    measures: createMeasures(clock, duration(MEASUREMENT_HEARTBEATS * config.nodeAgent.heartbeatInterval)),
    terminals: createTerminalRelay(hub, clock, () => ({
      perUser: live.config.rateLimits.attachMaxConcurrent,
      idleWarningSeconds: live.config.sessions.idleTimeout / 1000,
    })),
    launches: new Launches({
      servers: apiUrls.list,
      hub,
      clock,
      view: () => replica.view,
      fabric,
      starNodes: () => live.config.tasks.fenceStarNodes,
      ended: metrics.launchEnded,
      adopted: metrics.launchResumed,
      perUser: () => live.config.rateLimits.launchMaxConcurrent,
      refused: () => metrics.rateLimited("launch_max_concurrent"),
    }),
  };
}
