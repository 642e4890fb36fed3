// session.close: closes a session. The allocation that was created for the session ends with it: completed if it was
// placed, failed if work in it failed, cancelled if it was still pending.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { isFinal, isPlaced } from "../../model/allocation/phase.ts";
import type { Origin } from "../../model/origin.ts";
import { OWN_SESSION, sessionId } from "../../model/session/session.ts";
import { allocationChanged, moveAllocation } from "../../transitions/allocation/move.ts";
import { cancelAllocation } from "../../transitions/attempt/cancel.ts";
import { releaseNodes } from "../../transitions/claims/release-nodes.ts";
import type { Step } from "../../transitions/step.ts";

/** Closes a session; the allocation created for it ends as well. */
export interface CloseSessionCommand {
  readonly kind: "session.close";
  readonly origin: Origin;
  readonly allocation: AllocationId;
  readonly n: number;
  /** The exit code of the shell. */
  readonly exitCode: number | null;
  /** Set when the session ran work, which fails with an exit code other than 0. Missing for an interactive session. */
  readonly exitCounts?: true;
}

export function closeSession(step: Step, command: CloseSessionCommand): Outcome {
  const { allocation, n, origin, exitCode, exitCounts } = command;
  const record = step.state.allocation(allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(allocation)}`);
  const { phase } = record;
  if (isFinal(phase)) return unchanged(sessionId(allocation, n));
  if (record.spec.session !== true || n !== OWN_SESSION) {
    const sessions = record.sessions.filter((session) => session.n !== n);
    if (sessions.length === record.sessions.length) return unchanged(sessionId(allocation, n));
    const closed = { ...record, sessions };
    step.state.putAllocation(closed);
    step.events.push({ ...allocationChanged(closed, phase.kind), reason: "session_closed" });
    return accepted(sessionId(allocation, n));
  }
  if (!isPlaced(phase)) {
    cancelAllocation(step, record, { by: origin.user, reason: "its session was ended", message: "" });
    return accepted(allocation);
  }

  releaseNodes(step, record, phase, { lostNode: null, reason: "its session was ended" });
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  const { nodes } = phase;
  const message = "its session was ended";
  const ended = { nodes, startedAt, endedAt: step.at, exitCode };
  if (exitCounts === true && (exitCode ?? 0) !== 0) {
    const failureText = `its program ended with exit code ${exitCode}`;
    moveAllocation(step, record, { kind: "failed", ...ended, reason: "exit_code", message: failureText });
  } else moveAllocation(step, record, { kind: "completed", ...ended, message });
  return accepted(sessionId(allocation, n));
}
