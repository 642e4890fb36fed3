// Sends orders again to nodes that have not answered them. Agents ignore an order that they have carried out.

import { duration } from "@lattice/core";
import { monotonicNow } from "../../../base/clock.ts";
import { orderOf } from "../../../nodes/agents/orders.ts";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideOverdue, type FirstWaiting } from "./decide.ts";

/** How long a node may take to answer an order before the leader repeats it. */
const ORDER_TIMEOUT = duration(15_000);

export function ordersController({ replica, hub, clock }: ControllerContext): Controller {
  let seen: FirstWaiting = new Map();
  return {
    name: "orders",
    every: duration(5_000),
    run: async () => {
      const decided = decideOverdue(replica.view, { now: monotonicNow(clock), seen, patience: ORDER_TIMEOUT });
      seen = decided.seen;
      for (const { node, claim } of decided.overdue) {
        const order = orderOf(replica.view, node, claim);
        if (order !== null) hub.send(node, order);
      }
    },
  };
}
