// What fails by itself is begun again less and less often: a service the first time after a second, batch work the first time at once,
// then after twice as long each time, up to a bound. Until then they are not queued; the leader releases them when the time has come. One that has run
// well for long begins anew: what failed before that counts neither for its pause nor towards its most restarts.

import type { ReleaseHeldCommand } from "../command.ts";
import { type Duration, duration } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { withNote } from "./keep-past.ts";
import { changed } from "./move.ts";
import type { PendingPhase } from "./phase.ts";
import { isService } from "./spec.ts";

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/** Ten times the longest pause: whoever has run for so long has got over what was wrong with it. */
export const RAN_WELL: Duration = duration(10 * LONGEST_MS);

/** Servers before count for good. */
const FORGIVING_VERSION = 2;

/** The record as an attempt ends that may be begun again: with nothing counted, where a service ran well until then. */
export function afterRunningWell(step: Step, record: Allocation): Allocation {
  const { phase, spec, requeues, forgiven = 0 } = record;
  if (step.version < FORGIVING_VERSION || !isService(spec.lifecycle) || requeues === forgiven) return record;
  if (!("startedAt" in phase) || phase.startedAt === null || step.at - phase.startedAt < RAN_WELL) return record;
  return { ...record, forgiven: requeues };
}

/** Those that count. */
export const countedRequeues = ({ requeues, forgiven = 0 }: Pick<Allocation, "requeues" | "forgiven">): number =>
  requeues - forgiven;

/** Before the n-th restart, the first being 1. */
export const restartPause = (restarts: number): Duration =>
  duration(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(restarts - 1, 20)));

export function releaseHeld(step: Step, command: ReleaseHeldCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { phase } = record;
  if (phase.kind !== "pending" || phase.heldUntil === undefined) return unchanged(record.id);
  if (step.at < phase.heldUntil) return refuse("stale_report", `allocation ${record.id} is held back for longer`);
  const { heldUntil: _over, heldBecause: _why, ...rest } = phase;
  const queued: PendingPhase = rest;
  // Whoever waits for something that is used up is looked at again, which is nothing that happened to it.
  const text = "Its pause is over, and it is queued again.";
  const told =
    phase.heldBecause === undefined ? withNote(record, { type: "decision", kind: "released", text }, step) : record;
  const released = { ...told, phase: queued, pendingSinceIndex: step.index };
  step.state.putAllocation(released);
  step.events.push({ ...changed(released, "pending"), reason: "released" });
  return accepted(record.id);
}
