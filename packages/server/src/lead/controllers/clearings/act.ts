// Removes the checkpoints of finished allocations: sends orders to agents, and drops clearings that no node can carry
// out. An agent that accepts a clearing reports it. Attempts are counted in memory, so a new leader starts over.

import { type AllocationId, duration } from "@lattice/core";
import type { Logger } from "pino";
import type { Clock } from "../../../base/clock.ts";
import type { Config } from "../../../base/config/index.ts";
import { clearOrder } from "../../../nodes/agents/checkpoint-order.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Controller } from "../periodic/periodic.ts";
import { type ClearingTries, decideClearings, nextClearingTry } from "./decide.ts";

interface ClearingContext {
  readonly replica: Pick<Replica, "view">;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly hub: Pick<AgentHub, "send" | "connected">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: () => Pick<Config, "checkpoint">;
}

export const clearingsController = (context: ClearingContext): Controller => ({
  name: "clearings",
  every: duration(2_000),
  run: createClearer(context),
});

/** Returns one run of the controller. */
export function createClearer(context: ClearingContext) {
  const { replica, sequencer, hub, clock, logger } = context;
  const tries = new Map<AllocationId, ClearingTries>();
  return async (): Promise<void> => {
    const nowMs = clock.now();
    const { retention } = context.config().checkpoint;
    const { requests, drop } = decideClearings(replica.view, { nowMs, retention, connected: hub.connected, tries });
    const waiting = new Set(Array.from(replica.view.clearings(), ({ allocation }) => allocation));
    for (const id of tries.keys()) if (!waiting.has(id)) tries.delete(id);
    for (const { node, clearing, after } of requests) {
      const { allocation } = clearing;
      tries.set(allocation, nextClearingTry(tries.get(allocation), nowMs));
      hub.send(node, clearOrder(clearing, after));
    }
    for (const { allocation, reason } of drop)
      if (reason === "unreachable")
        logger.warn({ allocation }, "checkpoints not removed: no node reaches their storage");
    if (drop.length === 0) return;
    await sequencer.propose({ kind: "checkpoint.cleared", allocations: drop.map(({ allocation }) => allocation) });
  };
}
