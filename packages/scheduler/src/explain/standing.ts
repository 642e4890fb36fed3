// Where an allocation stands in its queue: its place, its score beside those of the first ahead of it, and its
// own reservation. What the plan starts waits no longer and is not counted.

import type { AllocationId, Instant, NodeId, Scores, TenantId } from "@lattice/core";
import type { PendingInput } from "../cycle-types.ts";
import { scores } from "../score/score.ts";
import { type Found, jobIn, type Study } from "./study.ts";

export interface QueueStanding {
  /** From 1. */
  readonly position: number;
  readonly length: number;
  readonly scores: Scores;
  readonly ahead: readonly Ahead[];
  readonly reservation: { readonly startsAt: Instant; readonly nodes: readonly NodeId[] } | null;
}

export interface Ahead {
  readonly position: number;
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly nodes: number;
  readonly scores: Scores;
}

/** Those ahead that are shown with their scores. */
export const AHEAD_LIMIT = 5;

export function queueStanding(study: Study, { at, job }: Found): QueueStanding {
  const { input, decided, result } = study;
  const { placed } = decided.draft;
  const { compare } = decided.queue;
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
  const held = result.reservations.find(({ allocation }) => allocation === job.input.id);
  return {
    position: ahead + 1,
    length,
    scores: scores(decided.basis, job),
    ahead: first.map((place, n) => {
      const pending = input.pending[place] as PendingInput;
      const { id: allocation, tenant, minNodes: nodes } = pending;
      return {
        position: n + 1,
        allocation,
        tenant,
        nodes,
        scores: scores(decided.basis, jobIn(decided, pending, input)),
      };
    }),
    reservation: held === undefined ? null : { startsAt: held.startsAt, nodes: held.nodes },
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
