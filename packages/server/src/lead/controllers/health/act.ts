// Records verdicts about nodes whose heartbeats stopped or returned.

import { duration } from "@lattice/core";
import { monotonicNow } from "../../../base/clock.ts";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideHealth } from "./decide.ts";

/** A quarter of the timeout notices silence in time; the bounds keep the loop cheap and tests fast. */
const everyFor = (timeoutMs: number) => duration(Math.max(20, Math.min(1_000, Math.floor(timeoutMs / 4))));

export function healthController(context: ControllerContext): Controller {
  const { replica, sequencer, hub, clock, logger, config } = context;
  return {
    name: "health",
    every: everyFor(config().nodeAgent.heartbeatTimeout),
    run: async () => {
      const { nodeAgent } = config();
      const verdicts = decideHealth(replica.view, {
        // Monotonic clock: a wall-clock jump must not look like missed heartbeats.
        now: monotonicNow(clock),
        leadingSince: context.leadingSince(),
        lastHeard: hub.lastHeardSteady,
        timeout: nodeAgent.heartbeatTimeout,
        grace: nodeAgent.gracePeriod,
        borrowedGrace: nodeAgent.borrowedGracePeriod,
        sensitive: { timeout: nodeAgent.sensitiveHeartbeatTimeout, grace: nodeAgent.sensitiveGracePeriod },
      });
      for (const { node, verdict, reason } of verdicts) logger.info({ node, verdict, reason }, "node health changed");
      await Promise.all(verdicts.map((verdict) => sequencer.propose(verdict)));
      // A stream that outlived the silence must not heal the node without a reconciliation.
      for (const { node, verdict } of verdicts)
        if (verdict === "silent") hub.drop(node, "the node was silent for too long");
    },
  };
}
