// Whether a full cycle would keep the start that a trial on the plan has found, without running it. Up to the turn of
// the changed request the cycle decides as before, if the change affects nothing that decides others: the demand for
// hardware, the backlog, and displaced reservations. At its turn at least the nodes of the trial are free, since the
// trial came after all others. The answer is no when in doubt.

import { EXCHANGE_QUEUE_LIMIT } from "../base/bounds.ts";
import { demandByKind } from "../fit/demand.ts";
import type { PendingInput } from "../input/cycle-input.ts";
import { backlog, backlogOf } from "../score/backlog.ts";
import { totalMilli } from "../score/score.ts";
import { type CycleRecord, toJobOf } from "./cycle-record.ts";

interface ChangedRequest {
  /** The request as it waits now; `null` when it is not in this queue. */
  readonly original: PendingInput | null;
  readonly pending: PendingInput;
  /** Whether the trial found a start now, or a later one. */
  readonly startsNow: boolean;
}

export function cycleWouldKeep(record: CycleRecord, changed: ChangedRequest): boolean {
  const { pending, startsNow } = changed;
  // A later start needs a reservation, and their number is limited.
  if (!startsNow || isReserved(record, pending)) return false;
  // Short queues exchange starts, which a trial on the plan does not show.
  if (record.input.pending.length <= EXCHANGE_QUEUE_LIMIT) return false;
  const others = record.input.pending.filter(({ id }) => id !== pending.id);
  return (
    isSameRanking(record, [...others, pending]) &&
    isSameBacklog(record, [...others, pending]) &&
    displacesNothing(record, changed)
  );
}

/** Earlier jobs were placed around its reservation, and would be placed differently around a changed one. */
const isReserved = ({ input, result }: CycleRecord, { id }: PendingInput): boolean =>
  [...result.reservations, ...(input.previousReservations ?? [])].some(({ allocation }) => allocation === id);

/** Hardware is chosen by the order of the demand, not by its values. */
function isSameRanking({ input, decision }: CycleRecord, changed: readonly PendingInput[]): boolean {
  const { machine } = decision.draft;
  const before = demandByKind(machine, input.pending);
  const after = demandByKind(machine, changed);
  for (let a = 0; a < before.length; a += 1) {
    for (let b = 0; b < a; b += 1) {
      const was = Math.sign((before[a] as number) - (before[b] as number));
      if (was !== Math.sign((after[a] as number) - (after[b] as number))) return false;
    }
  }
  return true;
}

function isSameBacklog({ input }: CycleRecord, changed: readonly PendingInput[]): boolean {
  const weight = input.weights.backlog;
  const termOf = (pending: readonly PendingInput[]): number =>
    Math.round(weight * backlog(backlogOf({ ...input, pending })));
  return weight === 0 || termOf(input.pending) === termOf(changed);
}

/** A reservation gives way to a job of a higher class that is ahead. */
function displacesNothing({ input, decision }: CycleRecord, { original, pending }: ChangedRequest): boolean {
  const scoreOf = (one: PendingInput): number =>
    input.isFifo ? 0 : totalMilli(decision.basis, toJobOf(decision, one, input));
  const before = original === null ? Number.NEGATIVE_INFINITY : scoreOf(original);
  const after = scoreOf(pending);
  if (before === after) return true;
  const owners = new Set<string>((input.previousReservations ?? []).map(({ allocation }) => allocation));
  return input.pending.every((owner) => {
    if (!owners.has(owner.id) || owner.preemptionClass >= pending.preemptionClass) return true;
    const score = scoreOf(owner);
    return Math.sign(before - score) === Math.sign(after - score);
  });
}
