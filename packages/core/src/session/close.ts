// Closes a session. With the session that an allocation was made for the allocation ends: completed
// if it was placed, since a person has left and nothing has gone wrong, or failed if work ran in it that did;
// cancelled if it still waited.

import { cancelAllocation } from "../allocation/cancel.ts";
import { letGo } from "../allocation/let-go.ts";
import { changed, moveAllocation } from "../allocation/move.ts";
import { isFinal, isPlaced } from "../allocation/phase.ts";
import type { CloseSessionCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { OWN_SESSION, sessionId, sessionsOf } from "./session.ts";

export function closeSession(step: Step, command: CloseSessionCommand): Outcome {
  const { allocation, n, origin, exitCode, exitCounts } = command;
  const record = step.state.allocation(allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(allocation)}`);
  const { phase } = record;
  if (isFinal(phase)) return unchanged(sessionId(allocation, n));
  if (record.spec.session !== true || n !== OWN_SESSION) {
    const rest = sessionsOf(record).filter((session) => session.n !== n);
    if (rest.length === sessionsOf(record).length) return unchanged(sessionId(allocation, n));
    const { sessions: _, ...without } = record;
    const closed = rest.length === 0 ? without : { ...record, sessions: rest };
    step.state.putAllocation(closed);
    step.events.push({ ...changed(closed, phase.kind), reason: "session_closed" });
    return accepted(sessionId(allocation, n));
  }
  if (!isPlaced(phase)) {
    const reason = "its session was ended";
    return cancelAllocation(step, { kind: "allocation.cancel", origin, id: allocation, reason });
  }

  letGo(step, record, phase, { gone: null, reason: "its session was ended" });
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  const { nodes } = phase;
  const message = "its session was ended";
  const ended = { nodes, startedAt, endedAt: step.at, exitCode };
  if (exitCounts === true && (exitCode ?? 0) !== 0) {
    const told = `what ran in it ended with exit code ${exitCode}`;
    moveAllocation(step, record, { kind: "failed", ...ended, reason: "exit_code", message: told });
  } else moveAllocation(step, record, { kind: "completed", ...ended, message });
  return accepted(sessionId(allocation, n));
}
