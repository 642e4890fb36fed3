// Tries a changed request, in one of two ways. On the plan: its own turn at the plan as it stands, by the steps
// that the cycle itself takes, put back afterwards; cheap, and never better than the truth, since everybody
// else has been served before it. By a cycle: the whole cycle again with the change in place of the original.

import type { AllocationId, Instant } from "@lattice/core";
import { startNow } from "../backfill.ts";
import type { CycleInput, CycleResult, PendingInput, Report } from "../cycle-types.ts";
import type { Draft, Held } from "../draft.ts";
import { isPossible, jobOf } from "../job.ts";
import { EXCHANGE_QUEUE_LIMIT } from "../limits.ts";
import { reserve } from "../reserve.ts";
import type { Study } from "./study.ts";

export interface Trial {
  readonly startsAt: Instant;
  readonly now: boolean;
  /** Has it nodes of its own, or is the start only expected? */
  readonly certain: boolean;
}

/** Null: it would not start before that instant, as far as anyone can see. */
export function tryOnPlan({ input, decided }: Study, changed: PendingInput, before: number): Trial | null {
  const { draft, ledger } = decided;
  const job = jobOf(draft.machine, changed, input.signals);
  const headroom = ledger.headroom(changed.tenant, job.least);
  if (headroom === 0 || !isPossible(draft.machine, job)) return null;
  return withoutIts(draft, changed.id, () => {
    if (startNow(draft, job, Math.min(changed.maxNodes, headroom)) !== null) {
      return { startsAt: draft.now, now: true, certain: true };
    }
    const held = before <= draft.now ? null : reserve(draft, job, before);
    return held === null ? null : { startsAt: held.startsAt, now: false, certain: true };
  });
}

/** With its reservation let go, and none moved to make room. */
function withoutIts<T>(draft: Draft, id: AllocationId, run: () => T): T {
  const { held, movesLeft } = draft;
  const own = held.filter((one) => one.job.input.id === id);
  for (const one of own) release(draft, one);
  draft.held = held.filter((one) => one.job.input.id !== id);
  draft.movesLeft = 0;
  const found = run();
  draft.movesLeft = movesLeft;
  draft.held = held;
  for (const one of own) takeBack(draft, one);
  return found;
}

function release(draft: Draft, held: Held): void {
  draft.holds.remove(held);
  draft.budgets?.release(held.job);
}

function takeBack(draft: Draft, held: Held): void {
  draft.holds.add(held);
  draft.budgets?.reserve(held.job, held.startsAt, held.endsAt);
}

/**
 * `run` is the cycle; `changed` takes the place of the allocation of the same id, or comes last. With a report of
 * nothing only a start with nodes of its own is found, in a good part of the time.
 */
export function tryByCycle(
  run: (input: CycleInput) => CycleResult,
  input: CycleInput,
  changed: PendingInput,
  report: Report = "full",
): Trial | null {
  const known = input.pending.some(({ id }) => id === changed.id);
  const pending = known
    ? input.pending.map((one) => (one.id === changed.id ? changed : one))
    : [...input.pending, changed];
  const { timed: _, ...rest } = input;
  // In a short queue even who has had its turn may give up its place to those behind it.
  const until = report === "none" && pending.length > EXCHANGE_QUEUE_LIMIT ? { until: changed.id } : null;
  return trialOf(run({ ...rest, pending, report, ...until }), changed.id, input.now);
}

export function trialOf(result: CycleResult, id: AllocationId, now: Instant): Trial | null {
  if (result.placements.some(({ allocation }) => allocation === id)) return { startsAt: now, now: true, certain: true };
  const startsAt = result.estimates.get(id);
  if (startsAt === undefined) return null;
  return { startsAt, now: false, certain: result.reservations.some(({ allocation }) => allocation === id) };
}
