// hooks.delivered: receivers have confirmed these deliveries, or the leader has given them up.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, unchanged } from "../../base/outcome.ts";

import type { Step } from "../../transitions/step.ts";

/** Removes deliveries that were confirmed or given up. */
export interface DeliveredCommand {
  readonly kind: "hooks.delivered";
  readonly keys: readonly string[];
}

export function removeDeliveries(step: Step, { keys }: DeliveredCommand): Outcome {
  const { deliveries } = step.state.tables;
  const waiting = keys.filter((key) => deliveries.has(key));
  for (const key of waiting) deliveries.delete(key);
  return waiting.length === 0 ? unchanged(null) : accepted(null);
}
