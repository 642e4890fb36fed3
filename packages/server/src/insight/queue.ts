// A page of a queue as the scheduler saw it last: those with scores by their sum, as they were ordered by, then those
// that have come since or were too many to look at, in the order of their submission. A queue by submission is that alone:
// its scores are shown and order nothing.

import type { Allocation, AllocationId, VClusterId, View } from "@lattice/core";
import { compareAllocationIds, instant, policyOf } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { CycleRecord } from "./cycle-record.ts";
import type { Question, QueueLook, Waiting } from "./question.ts";

export function lookAtQueue(
  view: View,
  cycles: ReadonlyMap<VClusterId, CycleResult>,
  record: Pick<CycleRecord, "lastAt">,
  { vcluster, from, limit }: Question<"queue">,
): QueueLook | null {
  const owner = view.vcluster(vcluster);
  if (owner === undefined) return null;
  const result = cycles.get(vcluster);
  const reserved = new Set(result?.reservations.map(({ allocation }) => allocation));
  const pending = view.pending(vcluster);
  const queue = policyOf(owner).order === "submission" ? [...pending].sort(bySubmission) : ordered(pending, result);
  const page = queue.slice(from, from + limit);
  return {
    asOf: record.lastAt(vcluster),
    total: view.pendingCount(vcluster),
    waiting: page.map(({ id }) => waitingOf(id, result, reserved)),
  };
}

const bySubmission = (a: Allocation, b: Allocation): number =>
  a.submittedAt - b.submittedAt || compareAllocationIds(a.id, b.id);

function ordered(pending: Iterable<Allocation>, result: CycleResult | undefined): readonly Allocation[] {
  const scored: Allocation[] = [];
  const others: Allocation[] = [];
  const scoreOf = ({ id }: Allocation): number => result?.scores.get(id)?.total ?? 0;
  for (const allocation of pending) (result?.scores.has(allocation.id) === true ? scored : others).push(allocation);
  scored.sort((a, b) => scoreOf(b) - scoreOf(a) || compareAllocationIds(a.id, b.id));
  return [...scored, ...others];
}

function waitingOf(id: AllocationId, result: CycleResult | undefined, reserved: ReadonlySet<AllocationId>): Waiting {
  const expected = result?.estimates.get(id);
  return {
    id,
    scoreMilli: result?.scores.get(id)?.total ?? null,
    expected: expected === undefined ? null : instant(expected),
    reserved: reserved.has(id),
    reasons: result?.reasons.get(id) ?? [],
  };
}
