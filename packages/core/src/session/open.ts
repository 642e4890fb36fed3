// Opens a session on an allocation that runs. Only its owner may; the API has asked, and replicas
// trust nobody.

import { changed } from "../allocation/move.ts";
import { goesOn } from "../allocation/phase.ts";
import type { OpenSessionCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step } from "../step.ts";
import { MAX_SESSIONS, sessionId, sessionsOf } from "./session.ts";

export function openSession(step: Step, { allocation, origin }: OpenSessionCommand): Outcome {
  const record = step.state.allocation(allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(allocation)}`);
  const { id, phase, user } = record;
  if (user !== origin.user) return refuse("not_owner", `allocation ${id} belongs to ${user}`);
  if (!goesOn(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not running`);
  const open = sessionsOf(record);
  if (open.length >= MAX_SESSIONS) {
    const figures = { current: open.length, limit: MAX_SESSIONS };
    return refuse("quota_exceeded", `allocation ${id} has ${open.length} sessions, and takes no more`, figures);
  }

  const n = 1 + Math.max(0, ...open.map((session) => session.n));
  const opened = { ...record, sessions: [...open, { n, user, openedAt: step.at }] };
  step.state.putAllocation(opened);
  step.events.push({ ...changed(opened, phase.kind), reason: "session_opened" });
  return accepted(sessionId(id, n));
}
