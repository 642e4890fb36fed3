// session.open: opens a session on a running allocation. Only its owner may; the API has checked this, and replicas check
// again.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import { isActive } from "../../model/allocation/phase.ts";
import type { Origin } from "../../model/origin.ts";
import { MAX_SESSIONS, sessionId } from "../../model/session/session.ts";
import { allocationChanged } from "../../transitions/allocation/move.ts";
import type { Step } from "../../transitions/step.ts";

/** Opens a terminal in a running allocation. */
export interface OpenSessionCommand {
  readonly kind: "session.open";
  readonly origin: Origin;
  readonly allocation: AllocationId;
}

export function openSession(step: Step, { allocation, origin }: OpenSessionCommand): Outcome {
  const record = step.state.allocation(allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(allocation)}`);
  const { id, phase, user } = record;
  if (user !== origin.user) return refuse("not_owner", `allocation ${id} belongs to ${user}`);
  if (!isActive(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not running`);
  const open = record.sessions;
  if (open.length >= MAX_SESSIONS) {
    const figures = { current: open.length, limit: MAX_SESSIONS };
    return refuse("quota_exceeded", `allocation ${id} has ${open.length} sessions, the maximum`, figures);
  }

  const n = 1 + Math.max(0, ...open.map((session) => session.n));
  const opened = { ...record, sessions: [...open, { n, user, openedAt: step.at }] };
  step.state.putAllocation(opened);
  step.events.push({ ...allocationChanged(opened, phase.kind), reason: "session_opened" });
  return accepted(sessionId(id, n));
}
