// The position of an allocation in its queue, its score next to those of the first ahead of it, and its reservation.
// Allocations that the plan starts are not counted.

import type { AllocationId, Instant, NodeId, Scores, TenantId } from "@lattice/core";
import type { PendingInput } from "../input/cycle-input.ts";
import { scores } from "../score/score.ts";
import { type CycleRecord, type FoundJob, toJobOf } from "./cycle-record.ts";

export interface QueuePosition {
  /** Starts at 1. */
  readonly position: number;
  readonly length: number;
  readonly scores: Scores;
  readonly ahead: readonly AllocationAhead[];
  readonly reservation: { readonly startsAt: Instant; readonly nodes: readonly NodeId[] } | null;
}

interface AllocationAhead {
  readonly position: number;
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly nodes: number;
  readonly scores: Scores;
}

/** Allocations ahead that are listed with their scores. */
const AHEAD_LIMIT = 5;

export function queuePosition(record: CycleRecord, { at, job }: FoundJob): QueuePosition {
  const { input, decision, result } = record;
  const { placed } = decision.draft;
  const { compare } = decision.queue;
  const first: number[] = [];
  let ahead = 0;
  let length = 0;
  for (let other = 0; other < input.pending.length; other += 1) {
    if (other !== at && placed.has((input.pending[other] as PendingInput).id)) continue;
    length += 1;
    if (other === at || compare(other, at) > 0) continue;
    ahead += 1;
    insert(first, other, compare);
  }
  const reservation = result.reservations.find(({ allocation }) => allocation === job.input.id);
  return {
    position: ahead + 1,
    length,
    scores: scores(decision.basis, job),
    ahead: first.map((place, n) => {
      const pending = input.pending[place] as PendingInput;
      const { id: allocation, tenant, minNodes: nodes } = pending;
      return {
        position: n + 1,
        allocation,
        tenant,
        nodes,
        scores: scores(decision.basis, toJobOf(decision, pending, input)),
      };
    }),
    reservation: reservation === undefined ? null : { startsAt: reservation.startsAt, nodes: reservation.nodes },
  };
}

/** Keeps the first few in order. */
function insert(first: number[], place: number, compare: (a: number, b: number) => number): void {
  if (first.length === AHEAD_LIMIT && compare(place, first[AHEAD_LIMIT - 1] as number) > 0) return;
  let at = first.length;
  while (at > 0 && compare(place, first[at - 1] as number) < 0) at -= 1;
  first.splice(at, 0, place);
  if (first.length > AHEAD_LIMIT) first.pop();
}
