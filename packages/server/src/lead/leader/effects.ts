// Performs the effects of applied entries: orders to agents. Runs on the leader after the entry is durable; every effect
// may be repeated. The `run` order itself is derived from the state, as when a node reconnects, so that an order
// repeated after a crash is the same.

import { attemptOn, type Effect } from "@lattice/core";
import type { Config } from "../../base/config/index.ts";
import { checkpointOrder } from "../../nodes/agents/checkpoint-order.ts";
import type { AgentHub, ServerMessageBody } from "../../nodes/agents/hub.ts";
import { forgetOrder, runOrderIfReady, stopOrder } from "../../nodes/agents/orders.ts";
import type { Replica } from "../../state/replica/replica.ts";

interface EffectContext {
  readonly hub: AgentHub;
  readonly replica: Pick<Replica, "view">;
  readonly config: () => Config;
}

export function performEffects(context: EffectContext, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== "run" && effect.kind !== "stop" && effect.kind !== "forget" && effect.kind !== "checkpoint")
      continue;
    const order = orderFor(context, effect);
    if (order !== null) context.hub.send(effect.node, order);
  }
}

type OrderEffect = Extract<Effect, { readonly kind: "run" | "stop" | "forget" | "checkpoint" }>;

function orderFor({ replica, config }: EffectContext, effect: OrderEffect): ServerMessageBody | null {
  if (effect.kind === "stop") return stopOrder(effect, effect.reason);
  if (effect.kind === "forget") return forgetOrder(effect.allocation, effect.attempt);
  const allocation = replica.view.allocation(effect.allocation);
  // A later command of the same entry may have ended the attempt.
  if (allocation === undefined || attemptOn(allocation, effect.node) !== effect.attempt) return null;
  return effect.kind === "checkpoint"
    ? checkpointOrder(allocation, effect.node, config().checkpoint.keep)
    : runOrderIfReady(replica.view, allocation, effect.node);
}
