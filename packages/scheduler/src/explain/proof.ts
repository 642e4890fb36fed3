// Whether a whole cycle would keep what a trial on the plan has found, without running it. Up to the turn of a changed
// request the cycle goes the same way as the one that was kept, as long as the change moves nothing that others
// are decided by: which kinds of hardware are wanted most, the pressure of the queue, and whose promises give way.
// At its turn there is then at least what the trial found, since at the end of the plan everybody else has been
// served. Where it cannot tell, the answer is no.

import type { PendingInput } from "../cycle-types.ts";
import { EXCHANGE_QUEUE_LIMIT, PROMISE_MARGIN } from "../limits.ts";
import { pressureOf } from "../place/tiers.ts";
import { backlog, backlogOf } from "../score/backlog.ts";
import { totalMilli } from "../score/score.ts";
import { jobIn, type Study } from "./study.ts";

export interface Changed {
  /** As it waits now; null: it does not wait in this queue. */
  readonly original: PendingInput | null;
  readonly pending: PendingInput;
  /** What the trial has found: a start now, or a later one. */
  readonly startsNow: boolean;
}

export function cycleWouldKeep(study: Study, changed: Changed): boolean {
  const { pending, startsNow } = changed;
  // A later start needs a reservation, and there are only so many.
  if (!startsNow || isHeldFor(study, pending)) return false;
  // In a short queue places are exchanged, which a trial on the plan does not show.
  if (study.input.pending.length <= EXCHANGE_QUEUE_LIMIT) return false;
  const others = study.input.pending.filter(({ id }) => id !== pending.id);
  return (
    isSameRanking(study, [...others, pending]) &&
    isSameBacklog(study, [...others, pending]) &&
    pushesNobody(study, changed)
  );
}

/** Those ahead of it have gone around its reservation, and would go another way around a changed one. */
const isHeldFor = ({ input, result }: Study, { id }: PendingInput): boolean =>
  [...result.reservations, ...(input.previous ?? [])].some(({ allocation }) => allocation === id);

/** Kinds of hardware are chosen by the order of these numbers, not by the numbers. */
function isSameRanking({ input, decided }: Study, changed: readonly PendingInput[]): boolean {
  const { machine } = decided.draft;
  const before = pressureOf(machine, input.pending);
  const after = pressureOf(machine, changed);
  for (let a = 0; a < before.length; a += 1) {
    for (let b = 0; b < a; b += 1) {
      const was = Math.sign((before[a] as number) - (before[b] as number));
      if (was !== Math.sign((after[a] as number) - (after[b] as number))) return false;
    }
  }
  return true;
}

function isSameBacklog({ input }: Study, changed: readonly PendingInput[]): boolean {
  const weight = input.weights.backlog;
  const termOf = (pending: readonly PendingInput[]): number =>
    Math.round(weight * backlog(backlogOf({ ...input, pending })));
  return weight === 0 || termOf(input.pending) === termOf(changed);
}

/** A promise gives way to who scores clearly more, or is of a higher class and goes first. */
function pushesNobody({ input, decided }: Study, { original, pending }: Changed): boolean {
  const scoreOf = (one: PendingInput): number =>
    input.fifo ? 0 : totalMilli(decided.basis, jobIn(decided, one, input));
  const before = original === null ? Number.NEGATIVE_INFINITY : scoreOf(original);
  const after = scoreOf(pending);
  if (before === after) return true;
  const owners = new Set<string>((input.previous ?? []).map(({ allocation }) => allocation));
  return input.pending.every((owner) => {
    if (!owners.has(owner.id) || owner.id === pending.id) return true;
    const score = scoreOf(owner);
    if (pending.preemptionClass > owner.preemptionClass) return Math.sign(before - score) === Math.sign(after - score);
    return before - score > PROMISE_MARGIN === after - score > PROMISE_MARGIN;
  });
}
