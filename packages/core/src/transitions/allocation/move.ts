// moveAllocation is the only function that changes the phase of an allocation: it checks the move against the table,
// replaces the record, emits the event and charges an attempt that ends.

import type { Instant } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { endOfAttempt } from "../../model/allocation/attempt-end.ts";
import type { PastFailure } from "../../model/allocation/past.ts";
import { type AllocationPhase, canMove, isFinal, isPlaced, type PlacedPhase } from "../../model/allocation/phase.ts";
import { entriesAfterMove, pastAfterMove } from "../../model/allocation/record-past.ts";
import type { AllocationChanged } from "../../model/event/event.ts";
import { chargeAttempt } from "../ledger/charge.ts";
import { leaveDomain } from "../network/join.ts";
import type { Step } from "../step.ts";

type Change = Partial<
  Pick<
    Allocation,
    | "attempt"
    | "requeues"
    | "requeuesForgotten"
    | "added"
    | "network"
    | "preemptions"
    | "suspensions"
    | "recalls"
    | "checkpoints"
    | "pendingSinceIndex"
    | "scores"
    | "backfilled"
    | "excludedNodes"
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
  const kept = withPlacement(record.phase, phase);
  const left = !isPlaced(phase) && isPlaced(record.phase) ? record.phase : null;
  if (left !== null) leaveDomain(step, record);
  const moved: Allocation = {
    ...withoutHold(withoutEntries(record)),
    ...change,
    charged: left === null ? record.charged : chargeAttempt(step.state, record, endOf(left, phase, step)),
    ...pastAfterMove(record, phase, step, failure),
    ...entriesAfterMove(record, phase, step),
    phase: kept,
  };
  step.state.putAllocation(moved);
  step.events.push(allocationChanged(moved, from));
  if (isFinal(phase)) step.endedWork.push({ id: moved.id, end: phase.kind, record: moved });
  if (moved.element !== undefined) step.touchedGroups.add(moved.element.group);
  return moved;
}

const endOf = (from: PlacedPhase, to: AllocationPhase, { at }: Step): Instant =>
  isFinal(to) ? to.endedAt : endOfAttempt(from, at);

/** The nodes of the previous attempt. */
function withoutEntries(record: Allocation): Allocation {
  if (record.entries === undefined) return record;
  const { entries: _before, ...rest } = record;
  return rest;
}

/** Only pending work is held. */
function withoutHold(record: Allocation): Allocation {
  if (record.hold === undefined) return record;
  const { hold: _over, ...rest } = record;
  return rest;
}

/** Keeps the time of placement after the end. */
function withPlacement(from: AllocationPhase, to: AllocationPhase): AllocationPhase {
  if (!isFinal(to) || !isPlaced(from)) return to;
  const { placedAt, attempts } = from;
  return { ...to, placedAt, ...(attempts === undefined ? {} : { attempts }) };
}

/** `from` is empty for a new allocation. */
export function allocationChanged(record: Allocation, from: string): AllocationChanged {
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
