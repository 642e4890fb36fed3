// Pending webhook deliveries. They are recorded in the entry that brings the end, so that no crash and no change of
// leader loses them, and removed when the receiver has confirmed. A dead receiver must not fill the state: beyond the
// bound the oldest is dropped, with an event.

import type { EndedWork } from "../../model/allocation/ended-work.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import type { Delivery, EndOfWork, Hook } from "../../model/notice/hook.ts";
import type { Notice } from "../../model/notice/notice.ts";
import type { Step } from "../step.ts";

/** Hours of deliveries of a busy cluster; about 5 MB. */
export const MAX_DELIVERIES = 10_000;

/** One delivery for a task group, not one per element. */
export function queueEndDelivery(step: Step, { id, end, record }: EndedWork): void {
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
    endedAt: final?.endedAt ?? step.at,
    nodes: final?.nodes.length ?? 0,
    tags: spec.tags,
  };
  for (const hook of hooks.values())
    if (wants(hook, spec.tenant) && hook.states.includes(end))
      queue(step, { key: `${hook.name}/${id}/${end}`, hook: hook.name, at: step.at, about });
}

export function queueNoticeDelivery(step: Step, notice: Notice): void {
  for (const hook of step.state.tables.hooks.values()) {
    if (!hook.notices || !wants(hook, notice.tenant)) continue;
    const key = `${hook.name}/${notice.key}/${step.at}`;
    queue(step, { key, hook: hook.name, at: step.at, about: { kind: "notice", notice } });
  }
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
