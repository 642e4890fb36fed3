// One scheduling cycle of one vCluster: nine steps over one snapshot. The cycle decides and commits nothing; `apply`
// rechecks every placement of the plan against the state at commit. Equal inputs give equal plans.

import { exchangeStarts } from "./backfill/exchange.ts";
import { createPlan, shareRemaining } from "./backfill/plan-context.ts";
import { walkQueue } from "./backfill/walk-queue.ts";
import { MOVE_LIMIT } from "./base/bounds.ts";
import { type CycleDecision, undecided } from "./explain/decision.ts";
import { toResult } from "./explain/report.ts";
import type { CycleInput, CycleResult } from "./input/cycle-input.ts";
import { machineOf } from "./machine/machine.ts";
import { cachedBuffers, createPlanBuffers, type PlanBuffers } from "./machine/plan-buffers.ts";
import { createDraft } from "./plan/draft.ts";
import { startAwaiting } from "./preempt/awaiting.ts";
import { planPreemptions } from "./preempt/preempt.ts";
import { addForeignReservations, carryOverReservations } from "./reserve/carry-over.ts";

/** Returns the plan of one cycle. The arrays it was made in serve the next cycle with the same cache. */
export function cycle(input: CycleInput): CycleResult {
  const buffers = input.cache === undefined ? undefined : cachedBuffers(input.cache, input.nodes.length);
  return toResult(input, decide(input, buffers));
}

/** Returns the plan with everything that explanations and trials need afterwards. */
export function decide(input: CycleInput, buffers: PlanBuffers = createPlanBuffers(input.nodes.length)): CycleDecision {
  // 1. Lay out the nodes as arrays: which are free, and when the others are released.
  const draft = createDraft(machineOf(input, buffers), input, { buffers, movesLeft: MOVE_LIMIT });
  // 2. Order the queue by score; skip even that when no node is free and the queue is long.
  const plan = createPlan(input, draft);
  if (plan === null) return undecided(input, draft);
  // 3. Leave other vClusters' reservations on shared nodes untouched.
  addForeignReservations(draft, input);
  // 4. Start allocations whose victims are gone; keep the freed nodes for the rest of them.
  const awaited = startAwaiting(plan);
  // 5. Carry over the reservations of the previous cycle where they still hold.
  const displaced = carryOverReservations(draft, input, plan);
  // 6. Walk the queue: find candidates, start, backfill around reservations, or reserve.
  const { considered, defaultReason } = walkQueue(plan, { awaited, displaced });
  // 7. Exchange late starts for others that are worth more together.
  const exchanged = exchangeStarts(plan, awaited);
  // 8. Let small allocations join nodes that are shared already.
  shareRemaining(plan);
  // 9. Plan preemptions for higher classes that still wait.
  const preemptions = planPreemptions(plan, new Set([...awaited, ...exchanged.keys()]));

  const { quotas, placements, queue, basis } = plan;
  return { draft, quotas, placements, preemptions, considered, defaultReason, queue, basis, exchanged };
}
