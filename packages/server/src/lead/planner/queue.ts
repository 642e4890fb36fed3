// A page of a queue as of the last cycle: allocations with scores by score, then newer ones and those beyond the
// report, by submission. A FIFO queue is ordered by submission only; its scores are shown.

import {
  type Allocation,
  type AllocationId,
  compareAllocationIds,
  type Instant,
  instant,
  policyOf,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { QueueEntry, QueuePage } from "./answers.ts";
import type { PlannerQuestion } from "./messages.ts";

export function queuePage(
  view: View,
  cycles: ReadonlyMap<VClusterId, CycleResult>,
  lastAt: ReadonlyMap<VClusterId, Instant>,
  { vcluster, from, limit }: PlannerQuestion<"queue">,
): QueuePage | null {
  const owner = view.vcluster(vcluster);
  if (owner === undefined) return null;
  const result = cycles.get(vcluster);
  const reserved = new Set(result?.reservations.map(({ allocation }) => allocation));
  const pending = view.pending(vcluster);
  const queue = policyOf(owner).order === "submission" ? [...pending].sort(bySubmission) : ordered(pending, result);
  const page = queue.slice(from, from + limit);
  return {
    asOf: lastAt.get(vcluster) ?? null,
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

function waitingOf(id: AllocationId, result: CycleResult | undefined, reserved: ReadonlySet<AllocationId>): QueueEntry {
  const expected = result?.estimates.get(id);
  return {
    id,
    scoreMilli: result?.scores.get(id)?.total ?? null,
    expected: expected === undefined ? null : instant(expected),
    reserved: reserved.has(id),
    reasons: result?.reasons.get(id) ?? [],
  };
}
