// What webhooks are still to be told. It is written down in the entry that brings the end, so that no
// crash and no change of leader forgets it, and struck out when the receiver has confirmed it. A receiver
// that stays away must not fill the state: beyond the bound the oldest goes, with an event.

import type { Ended } from "../allocation/ended.ts";
import { isFinal } from "../allocation/phase.ts";
import type { DeliveredCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, type Step, unchanged } from "../step.ts";
import type { Delivery, EndOfWork, Hook } from "./hook.ts";
import type { Notice } from "./notice.ts";

/** Hours of a busy cluster; about 5 MB. */
export const MAX_DELIVERIES = 10_000;

/** Of a task group as a whole, not of each element. */
export function queueEnd(step: Step, { id, end, record }: Ended): void {
  const { hooks } = step.state.tables;
  if (hooks.size === 0 || record === null || "element" in record) return;
  const { phase, spec, user, submittedAt } = record;
  const final = "nodes" in phase && isFinal(phase) ? phase : null;
  const about: EndOfWork = {
    kind: "allocation",
    id,
    name: spec.name,
    tenant: spec.tenant,
    user,
    state: end,
    reason: final !== null && "reason" in final ? final.reason : "",
    message: final?.message ?? "",
    exitCode: final?.exitCode ?? null,
    submittedAt,
    startedAt: final?.startedAt ?? null,
    endedAt: step.at,
    nodes: final?.nodes.length ?? 0,
    tags: spec.tags,
  };
  for (const hook of hooks.values())
    if (wants(hook, spec.tenant) && hook.states.includes(end))
      queue(step, { key: `${hook.name}/${id}/${end}`, hook: hook.name, at: step.at, about });
}

export function queueNotice(step: Step, notice: Notice): void {
  for (const hook of step.state.tables.hooks.values()) {
    if (!hook.notices || !wants(hook, notice.tenant)) continue;
    const key = `${hook.name}/${notice.key}/${step.at}`;
    queue(step, { key, hook: hook.name, at: step.at, about: { kind: "notice", notice } });
  }
}

export function delivered(step: Step, { keys }: DeliveredCommand): Outcome {
  const { deliveries } = step.state.tables;
  const waiting = keys.filter((key) => deliveries.has(key));
  for (const key of waiting) deliveries.delete(key);
  return waiting.length === 0 ? unchanged(null) : accepted(null);
}

function queue(step: Step, delivery: Delivery): void {
  const { deliveries } = step.state.tables;
  deliveries.set(delivery.key, delivery);
  const [oldest] = deliveries.keys();
  if (deliveries.size <= MAX_DELIVERIES || oldest === undefined) return;
  deliveries.delete(oldest);
  step.events.push({ kind: "delivery_dropped", reason: "too many wait", message: oldest });
}

const wants = (hook: Hook, tenant: string | null): boolean => hook.tenant === null || hook.tenant === tenant;
