// One scheduling cycle for one vCluster, as a list of steps over one snapshot: order the queue, find
// candidates, place, reserve for who cannot start, backfill around the reservations, explain the
// rest. It decides and commits nothing: `apply` rechecks every placement of the plan.

import type { AllocationId, NodeId, Placement } from "@lattice/core";
import { startNow } from "./backfill.ts";
import type { CycleInput, CycleResult, PendingInput, PendingReason } from "./cycle-types.ts";
import { type Draft, draftOf, type Held, isPossible, type Job, jobOf } from "./draft.ts";
import { explainer, type Standing } from "./explain.ts";
import { FULL_MACHINE_QUEUE_LIMIT, REASONS_LIMIT, TRY_LIMIT } from "./limits.ts";
import { machineOf } from "./machine.ts";
import { orderQueue, type Queue } from "./order.ts";
import { type Ledger, ledgerOf } from "./quota.ts";
import { reserve } from "./reserve.ts";
import { type ScoreBasis, scoreBasis, scores } from "./score/score.ts";

export function cycle(input: CycleInput): CycleResult {
  const decided = decide(input);
  return {
    vcluster: input.vcluster,
    basis: input.basis,
    placements: decided.placements,
    reservations: decided.draft.held.map((held) => ({
      allocation: held.job.input.id,
      startsAt: held.startsAt,
      nodes: nodeIds(decided.draft, held.nodes),
    })),
    reasons: firstReasons(decided),
    estimates: new Map(decided.draft.held.map((held) => [held.job.input.id, held.startsAt])),
    considered: decided.considered,
  };
}

/** Why this allocation is pending, for those beyond what `cycle` explains; empty when it would start now. */
export function reasonsFor(input: CycleInput, id: AllocationId): readonly PendingReason[] {
  const pending = input.pending.find((job) => job.id === id);
  if (pending === undefined) return [];
  const decided = decide(input);
  return decided.draft.placed.has(id) ? [] : explainer(decided).reasons(pending);
}

interface Decided extends Standing {
  readonly placements: readonly Placement[];
  readonly considered: number;
  /** Looked at and not placed, in order. */
  readonly waiting: readonly PendingInput[];
  /** Those the walk did not reach. */
  readonly rest: Queue;
}

function decide(input: CycleInput): Decided {
  const draft = draftOf(machineOf(input), input.now);
  const ledger = ledgerOf(input);
  if (draft.freeCount === 0 && input.pending.length > FULL_MACHINE_QUEUE_LIMIT) {
    const rest = asGiven(input.pending);
    return { draft, ledger, placements: [], considered: 0, waiting: [], otherwise: "not_considered", rest };
  }
  const basis = scoreBasis(input);
  const queue = orderQueue(input, basis);
  return { draft, ledger, ...walk(input, { draft, ledger, basis, queue }), rest: queue };
}

interface Walk {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly basis: ScoreBasis;
  readonly queue: Queue;
}

/** Down the queue until nothing more can start or be reserved. */
function walk(input: CycleInput, { draft, ledger, basis, queue }: Walk) {
  const placements: Placement[] = [];
  const waiting: PendingInput[] = [];
  let considered = 0;
  let tried = 0;
  while (tried < TRY_LIMIT && !(draft.freeCount === 0 && draft.held.length >= input.backfillDepth)) {
    const pending = queue.next();
    if (pending === null) break;
    considered += 1;
    const job = jobOf(draft.machine, pending);
    const headroom = ledger.headroom(pending.tenant, job.least);
    if (headroom === 0 || !isPossible(job)) {
      waiting.push(pending);
      continue;
    }
    tried += 1;
    const start = startNow(draft, job, Math.min(pending.maxNodes, headroom));
    if (start !== null) {
      const backfilled = draft.held.length > 0;
      commit(draft, job, start);
      ledger.charge(pending.tenant, start.nodes.length);
      placements.push({
        allocation: pending.id,
        attempt: pending.nextAttempt,
        nodes: nodeIds(draft, start.nodes),
        scores: scores(basis, pending),
        backfilled,
      });
      continue;
    }
    waiting.push(pending);
    if (draft.held.length >= input.backfillDepth && input.backfillDepth > 0) continue;
    const held = reserve(draft, job);
    // Depth 0 means no backfill: whoever waits for nodes that will come back is not overtaken.
    if (held !== null && input.backfillDepth === 0) break;
    if (held !== null) draft.held = [...draft.held, held];
  }
  const otherwise = tried < TRY_LIMIT ? ("priority" as const) : ("not_considered" as const);
  return { placements, waiting, considered, otherwise };
}

function commit(draft: Draft, job: Job, start: { nodes: readonly number[]; held: readonly Held[] }): void {
  for (const node of start.nodes) draft.availableFrom[node] = draft.now + job.occupies;
  draft.freeCount -= start.nodes.length;
  draft.held = start.held;
  draft.placed.add(job.input.id);
}

function firstReasons(decided: Decided): ReadonlyMap<AllocationId, readonly PendingReason[]> {
  const reasons = new Map<AllocationId, readonly PendingReason[]>();
  const { reasons: explain } = explainer(decided);
  for (const pending of decided.waiting) {
    if (reasons.size >= REASONS_LIMIT) return reasons;
    reasons.set(pending.id, explain(pending));
  }
  for (let next = decided.rest.next(); next !== null && reasons.size < REASONS_LIMIT; next = decided.rest.next()) {
    reasons.set(next.id, explain(next));
  }
  return reasons;
}

const nodeIds = (draft: Draft, nodes: readonly number[]): NodeId[] =>
  nodes.flatMap((node) => draft.machine.nodes[node]?.id ?? []);

function asGiven(pending: readonly PendingInput[]): Queue {
  const each = pending.values();
  return { next: () => each.next().value ?? null };
}
