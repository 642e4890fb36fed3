// Has the checkpoints of allocations that have ended removed: tells agents, and strikes out what nobody is to remove. What an agent has
// taken on is struck out when it says so. How often somebody was told is in the leader's memory alone: a new one tells again.

import type { AllocationId, Duration } from "@lattice/core";
import type { Logger } from "pino";
import { clearOrder } from "../../agents/checkpoint-order.ts";
import type { AgentHub } from "../../agents/hub.ts";
import type { Clock } from "../../clock.ts";
import type { Sequencer } from "../../leader/sequencer.ts";
import type { Replica } from "../../replica/replica.ts";
import { type ClearingTries, decideClearings, nextClearingTry } from "./decide.ts";

export interface ClearingContext {
  readonly replica: Pick<Replica, "view">;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly hub: Pick<AgentHub, "send" | "connected">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly checkpoints: { readonly retention: Duration };
}

/** One turn; call it again and again. */
export function createClearer(context: ClearingContext) {
  const { replica, sequencer, hub, clock, logger } = context;
  const tries = new Map<AllocationId, ClearingTries>();
  return async (): Promise<void> => {
    const nowMs = clock.now();
    // Read anew: it is changed while servers run.
    const { retention } = context.checkpoints;
    const { tell, drop } = decideClearings(replica.view, { nowMs, retention, connected: hub.connected, tries });
    const waiting = new Set(Array.from(replica.view.clearings(), ({ allocation }) => allocation));
    for (const id of tries.keys()) if (!waiting.has(id)) tries.delete(id);
    for (const { node, clearing, after } of tell) {
      const { allocation } = clearing;
      tries.set(allocation, nextClearingTry(tries.get(allocation), nowMs));
      hub.send(node, clearOrder(clearing, after));
    }
    for (const { allocation, why } of drop)
      if (why === "nobody") logger.warn({ allocation }, "its checkpoints stay: no node has come that reaches them");
    if (drop.length === 0) return;
    await sequencer.propose({ kind: "checkpoints.cleared", allocations: drop.map(({ allocation }) => allocation) });
  };
}
