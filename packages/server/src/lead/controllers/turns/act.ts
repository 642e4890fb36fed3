// Recalls elements that wait behind others. The agent ends the ones that have not started and reports it; only the report
// returns them to the queue, so none runs twice. A repetition costs one message.

import { duration } from "@lattice/core";
import { monotonicNow } from "../../../base/clock.ts";
import { recallOrder } from "../../../nodes/agents/orders.ts";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideRecalls, type FirstBehind } from "./decide.ts";

/** Many times the run time for which elements are placed behind others. */
const TURN_PATIENCE = duration(5_000);

export function turnsController({ replica, hub, clock }: ControllerContext): Controller {
  let seen: FirstBehind = new Map();
  return {
    name: "turns",
    every: duration(1_000),
    run: async () => {
      const decided = decideRecalls(replica.view, { now: monotonicNow(clock), seen, patience: TURN_PATIENCE });
      seen = decided.seen;
      for (const { node, claim } of decided.recalls) hub.send(node, recallOrder(claim));
    },
  };
}
