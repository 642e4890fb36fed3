// The plan of one cycle while the steps add to it: the draft, the quotas and the queue that the steps share, and the
// two ways to place a job, on nodes of its own or on a node that is shared already.

import type { Placement } from "@lattice/core";
import { FULL_MACHINE_QUEUE_LIMIT } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import { createQuotas, type Quotas } from "../limits/quotas.ts";
import { nodeIdsOf } from "../machine/node-ids.ts";
import { canStillShare, createNodeSharing, type NodeSharing } from "../place/share-node.ts";
import { commitShared, commitStart, type Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import { orderQueue, type Queue } from "../queue/queue.ts";
import { mayShare } from "../reserve/kept-quota.ts";
import { removeReservation, reservationOf } from "../reserve/reserve.ts";
import { placedScores, type ScoreBasis, scoreBasis } from "../score/score.ts";

export interface PlanContext {
  readonly input: CycleInput;
  readonly draft: Draft;
  readonly quotas: Quotas;
  readonly queue: Queue;
  readonly basis: ScoreBasis;
  readonly sharing: NodeSharing;
  readonly placements: Placement[];
  /** Jobs placed on nodes of their own, in the order of their placement. */
  readonly started: StartedJob[];
}

export interface StartedJob {
  readonly job: Job;
  readonly nodes: readonly number[];
  /** The reservation that the start made unnecessary, for undoing it. */
  readonly reservation?: PlannedReservation;
}

/** Returns `null` when ordering the queue is not worth it: no node is free and the queue is long. */
export function createPlan(input: CycleInput, draft: Draft): PlanContext | null {
  const sharing = createNodeSharing(draft, input);
  const isFull = draft.freeCount === 0 && !sharing.hasSharedNodes;
  if (isFull && input.report !== "full" && input.pending.length > FULL_MACHINE_QUEUE_LIMIT) return null;
  const basis = scoreBasis(input, draft.machine);
  const queue = orderQueue(input, basis);
  return { input, draft, quotas: createQuotas(input), queue, basis, sharing, placements: [], started: [] };
}

/** Places the job on nodes of its own. */
export function startJob(plan: PlanContext, job: Job, nodes: readonly number[], isBackfilled = false): void {
  const { draft, quotas, placements, started, sharing } = plan;
  commitStart(draft, job, nodes);
  quotas.charge(job.input.tenant, nodes.length);
  const placement = placementOf(plan, job, nodes, isBackfilled);
  placements.push(placement);
  started.push({ job, nodes });
  if (job.input.canShareNode === true) for (const node of placement.nodes) sharing.addSharedNode(job, node);
}

/** Builds the placement of a job on nodes of its own. */
export function placementOf(
  { draft, basis }: PlanContext,
  job: Job,
  nodes: readonly number[],
  isBackfilled: boolean,
): Placement {
  const { id, nextAttempt, canShareNode } = job.input;
  const ids = nodeIdsOf(draft.machine, nodes);
  const scores = placedScores(basis, job, nodes);
  const placement = { allocation: id, attempt: nextAttempt, nodes: ids, scores, backfilled: isBackfilled };
  return canShareNode === true ? { ...placement, shared: true } : placement;
}

/** Places the job on a node that is shared already; false when none has capacity for it. */
export function tryShareNode(plan: PlanContext, job: Job): boolean {
  const { draft, quotas, basis, sharing, placements } = plan;
  const { id, tenant, nextAttempt } = job.input;
  const node = mayShare(draft, quotas, job) ? sharing.joinSharedNode(job) : null;
  if (node === null) return false;
  const reservation = reservationOf(draft, job);
  if (reservation !== null) removeReservation(draft, reservation);
  quotas.charge(tenant, 0);
  // Shared nodes are nodes of the machine.
  const index = draft.machine.indexOf.get(node) as number;
  commitShared(draft, job, index);
  const scores = placedScores(basis, job, [index]);
  placements.push({ allocation: id, attempt: nextAttempt, nodes: [node], scores, backfilled: false, shared: true });
  return true;
}

/** Shares nodes with jobs that the walk did not draw because no node was free. */
export function shareRemaining(plan: PlanContext): void {
  const { sharing, queue, draft } = plan;
  if (sharing.hasSharedNodes) for (const job of queue.select(canStillShare(draft.placed))) tryShareNode(plan, job);
}
