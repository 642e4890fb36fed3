// The one way in which an allocation changes its phase: the move must be in the table, the
// record is replaced, watchers are told, and an attempt that ends is charged.

import { invariant } from "../invariant.ts";
import { chargeAttempt } from "../ledger/charge.ts";
import { LEDGER_VERSION } from "../ledger/version.ts";
import { leaveDomain } from "../network/join.ts";
import type { Event } from "../outcome.ts";
import type { Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { entriesAfterMove, pastAfterMove } from "./keep-past.ts";
import type { PastFailure } from "./past.ts";
import { type AllocationPhase, canMove, isFinal, isPlaced } from "./phase.ts";

type Change = Partial<
  Pick<
    Allocation,
    | "attempt"
    | "requeues"
    | "forgiven"
    | "added"
    | "network"
    | "preemptions"
    | "suspensions"
    | "checkpoints"
    | "pendingSinceIndex"
    | "scores"
    | "backfilled"
    | "setAside"
    | "share"
  >
>;

export function moveAllocation(
  step: Step,
  record: Allocation,
  phase: AllocationPhase,
  change: Change = {},
  failure?: PastFailure,
): Allocation {
  const from = record.phase.kind;
  invariant(canMove(from, phase.kind), `allocation ${record.id} cannot move from ${from} to ${phase.kind}`);
  const kept = withPlacement(record.phase, phase, step);
  const moved: Allocation = {
    ...withoutHold(withoutEntries(record)),
    ...change,
    ...pastAfterMove(record, phase, step, failure),
    ...entriesAfterMove(record, phase, step),
    phase: kept,
  };
  if (!isPlaced(phase) && isPlaced(record.phase)) leaveDomain(step, record);
  if (!isPlaced(phase) && step.version >= LEDGER_VERSION) chargeAttempt(step.state, record, step.at);
  step.state.putAllocation(moved);
  step.events.push(changed(moved, from));
  if (isFinal(phase)) step.ended.push({ id: moved.id, end: phase.kind, record: moved });
  if (moved.element !== undefined) step.stirred.add(moved.element.group);
  return moved;
}

/** Those of the attempt that was there before. */
function withoutEntries(record: Allocation): Allocation {
  if (record.entries === undefined) return record;
  const { entries: _before, ...rest } = record;
  return rest;
}

/** Only what waits is held. */
function withoutHold(record: Allocation): Allocation {
  if (record.hold === undefined) return record;
  const { hold: _over, ...rest } = record;
  return rest;
}

/** When it was placed stays known beyond the end; servers before do not keep it. */
function withPlacement(from: AllocationPhase, to: AllocationPhase, { version }: Step): AllocationPhase {
  if (!isFinal(to) || !isPlaced(from) || version < LEDGER_VERSION) return to;
  const { placedAt, attempts } = from;
  return { ...to, placedAt, ...(attempts === undefined ? {} : { attempts }) };
}

/** `from` is empty for a new allocation. */
export function changed(record: Allocation, from: string): Event {
  const { phase } = record;
  return {
    kind: "allocation_changed",
    allocation: record.id,
    attempt: record.attempt,
    tenant: record.spec.tenant,
    vcluster: record.spec.vcluster,
    user: record.user,
    from,
    to: phase.kind,
    reason: reasonOf(phase),
    message: messageOf(phase),
  };
}

function reasonOf(phase: AllocationPhase): string {
  if (phase.kind === "pending" || phase.kind === "suspended") return phase.cause;
  if (phase.kind === "checkpointing") return phase.request.cause;
  return phase.kind === "failed" || phase.kind === "cancelled" ? phase.reason : "";
}

function messageOf(phase: AllocationPhase): string {
  if (phase.kind === "checkpointing") return phase.request.message;
  return "message" in phase ? (phase.message ?? "") : "";
}
