// Walks the queue in order until nothing more can start or be reserved. Each job starts, keeps or improves its
// reservation, or gets one. A start or reservation found by a later job goes to the first identical job ahead of it, see
// `hand-over.ts`.

import type { AllocationId } from "@lattice/core";
import { TRY_LIMIT } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { PendingInput } from "../input/cycle-input.ts";
import { isFeasible } from "../place/feasibility.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import { reservationDepth } from "../reserve/carry-over.ts";
import { headroomNow, mayReserve } from "../reserve/kept-quota.ts";
import { addReservation, findReservation, removeReservation, reservationOf } from "../reserve/reserve.ts";
import { spareOf } from "../reserve/spare.ts";
import {
  createWaitingList,
  handOver,
  identicalBehind,
  startIdenticalAhead,
  transferTo,
  type WaitingList,
} from "./hand-over.ts";
import { type PlanContext, startJob, tryShareNode } from "./plan-context.ts";
import { startNow } from "./start-now.ts";

interface WalkOptions {
  /** Allocations that wait for nodes freed by preemption; an earlier step has dealt with them. */
  readonly awaited: ReadonlySet<AllocationId>;
  /** Owners of a previous reservation that could not be carried over; some have got another instead. */
  readonly displaced: Set<PendingInput>;
}

interface WalkState extends WalkOptions {
  readonly plan: PlanContext;
  readonly draft: Draft;
  /** The most reservations the plan may have. */
  readonly depth: number;
  /** Carried-over reservations whose owners the walk has not reached. */
  readonly unvisited: Map<AllocationId, PlannedReservation>;
  readonly waitingList: WaitingList;
  /** Jobs that must not be skipped: they own a reservation, or lost one. */
  readonly owners: Set<PendingInput>;
  isSkipping: boolean;
}

/** How far the walk came, and the reason of jobs that nothing else explains. */
interface WalkResult {
  readonly considered: number;
  readonly defaultReason: "priority" | "not_considered";
}

export function walkQueue(plan: PlanContext, options: WalkOptions): WalkResult {
  const { draft, queue, input } = plan;
  const state = createState(plan, options);
  let considered = 0;
  let tried = 0;
  let last: AllocationId | null = null;
  while (tried < TRY_LIMIT && !(draft.freeCount === 0 && hasAllReservations(state))) {
    if (last !== null && last === input.stopAfter) break;
    skipHopeless(state);
    const job = queue.next();
    if (job === null) break;
    last = job.input.id;
    considered += 1;
    if (draft.placed.has(last) || options.awaited.has(last)) continue;
    const visit = visitJob(state, job);
    if (visit !== "not_tried") tried += 1;
    if (visit === "stop") break;
  }
  return { considered, defaultReason: tried < TRY_LIMIT ? "priority" : "not_considered" };
}

function createState(plan: PlanContext, options: WalkOptions): WalkState {
  const { draft, queue, input } = plan;
  const { reservations } = draft;
  return {
    ...options,
    plan,
    draft,
    depth: reservationDepth(input),
    unvisited: new Map(reservations.map((reservation) => [reservation.job.input.id, reservation])),
    waitingList: createWaitingList(draft, queue),
    owners: new Set([...options.displaced, ...reservations.map(({ job }) => job.input)]),
    isSkipping: false,
  };
}

const hasAllReservations = ({ draft, depth }: WalkState): boolean => draft.reservations.length >= depth;

/** Whether the depth and the quota admit one more reservation. */
const mayAddReservation = (state: WalkState, job: Job): boolean =>
  !hasAllReservations(state) && mayReserve(state.draft, state.plan.quotas, job);

/** Once all reservations are given out, a job that the spare nodes do not suffice for can neither start nor reserve. */
function skipHopeless(state: WalkState): void {
  const { plan, draft, owners, depth } = state;
  if (state.isSkipping || depth === 0 || !hasAllReservations(state)) return;
  plan.queue.skipUnless((job) => couldStart(draft, job) || owners.has(job.input));
  state.isSkipping = true;
}

/** Draws skipped jobs again after a reservation has changed its owner, nodes or start. */
function resumeSkipped(state: WalkState): void {
  const { plan, draft } = state;
  const { nodesNeeded, occupancy } = plan.queue.skipped;
  if (hasAllReservations(state) && nodesNeeded > spareOf(draft).freeUntil(draft.now + occupancy)) return;
  plan.queue.resume();
  state.isSkipping = false;
}

/** Counts alone: whether the spare nodes could suffice. */
const couldStart = (draft: Draft, job: Job): boolean =>
  job.nodesNeeded <= draft.freeCount &&
  (draft.reservations.length === 0 || job.nodesNeeded <= spareOf(draft).freeUntil(draft.now + job.occupancy));

/** "not_tried": the job waits for quota or can never fit, which does not count against the limit of the walk. */
function visitJob(state: WalkState, job: Job): "tried" | "not_tried" | "stop" {
  const { plan, draft, unvisited, waitingList, displaced, depth } = state;
  const { quotas } = plan;
  const { id, tenant, canShareNode } = job.input;
  if (canShareNode === true && tryShareNode(plan, job)) {
    unvisited.delete(id);
    return "tried";
  }
  const headroom = quotas.headroom(tenant, job.nodesNeeded);
  // The reservation stays: running work returns the quota before the reserved start.
  if (headroom === 0 && unvisited.delete(id)) return "not_tried";
  if (headroom > 0 && !displaced.has(job.input) && cannotImprove(draft, job, unvisited.get(id))) {
    unvisited.delete(id);
    waitingList.add(job);
    return "tried";
  }
  const own = takeReservation(state, job);
  if (headroom === 0 || !isFeasible(draft.machine, job)) {
    if (own !== null) resumeSkipped(state);
    return "not_tried";
  }
  const start = tryStart(state, job, own);
  if (start.isStarted) return "tried";
  if (depth > 0 && start.reservation === null && !mayAddReservation(state, job)) {
    if (!takeFromIdentical(state, job, null)) waitingList.add(job);
    return "tried";
  }
  return tryReserve(state, job, { own, remaining: start.reservation }) ? "tried" : "stop";
}

type StartOutcome =
  | { readonly isStarted: true }
  /** The reservation that the job is left with, not in the draft. */
  | { readonly isStarted: false; readonly reservation: PlannedReservation | null };

/** Starts the job, or identical jobs ahead of it on the nodes it finds. */
function tryStart(state: WalkState, job: Job, own: PlannedReservation | null): StartOutcome {
  const { plan, draft, unvisited, waitingList } = state;
  const { quotas } = plan;
  const { maxNodes } = job.input;
  let reservation = own;
  while (true) {
    const headroom = headroomNow(draft, quotas, job);
    const nodes = headroom === 0 ? null : startNow(draft, job, Math.min(maxNodes, headroom));
    if (nodes === null) return { isStarted: false, reservation };
    const ahead = startIdenticalAhead(draft, waitingList, { job, reservation, nodes, quotas });
    startJob(plan, ahead?.job ?? job, nodes, draft.reservations.length > unvisited.size);
    if (ahead === null) {
      if (own !== null) resumeSkipped(state);
      return { isStarted: true };
    }
    reservation = ahead.remaining;
    resumeSkipped(state);
  }
}

interface ReservationTry {
  /** The reservation of the job before its turn. */
  readonly own: PlannedReservation | null;
  /** The reservation it has left; not in the draft. */
  readonly remaining: PlannedReservation | null;
}

/** Reserves the earliest start for the job. False at depth 0, where no later job may overtake it. */
function tryReserve(state: WalkState, job: Job, { own, remaining }: ReservationTry): boolean {
  const { plan, draft, depth, waitingList } = state;
  const { quotas } = plan;
  let reservation = remaining;
  let hasChanged = false;
  while (true) {
    // A carried-over reservation keeps its start and nodes unless an earlier start is found.
    const mayAdd = depth === 0 || mayAddReservation(state, job);
    const better = mayAdd ? findReservation(draft, job, reservation?.startsAt) : null;
    if (better !== null && depth === 0) return false;
    if (better === null) break;
    const handed = handOver(draft, waitingList, { job, reservation, found: better, depth, quotas });
    if (!handed.isHandedOver) {
      reservation = better;
      break;
    }
    reservation = handed.remaining;
    hasChanged = true;
  }
  if (takeFromIdentical(state, job, reservation)) return true;
  if (reservation !== null) addReservation(draft, reservation);
  waitingList.add(job);
  if (hasChanged || (own !== null && reservation !== own)) resumeSkipped(state);
  return true;
}

/**
 * A job that lost its reservation does not move behind an identical later job: it takes that job's reservation. True
 * when that reservation is earlier than `found`.
 */
function takeFromIdentical(state: WalkState, job: Job, found: PlannedReservation | null): boolean {
  const { plan, draft, displaced, unvisited, waitingList } = state;
  if (!displaced.has(job.input)) return false;
  const behind = identicalBehind(draft, job, unvisited);
  if (behind === null || (found !== null && found.startsAt <= behind.startsAt)) return false;
  removeReservation(draft, behind);
  displaced.add(behind.job.input);
  const headroom = headroomNow(draft, plan.quotas, job);
  const nodes = headroom === 0 ? null : startNow(draft, job, Math.min(job.input.maxNodes, headroom));
  if (nodes !== null) startJob(plan, job, nodes, draft.reservations.length > unvisited.size);
  else {
    addReservation(draft, transferTo(behind, job));
    waitingList.add(job);
  }
  resumeSkipped(state);
  return true;
}

/** Counts alone: the job has a reservation, cannot start now, and cannot start before its reservation. */
function cannotImprove(draft: Draft, job: Job, reservation: PlannedReservation | undefined): boolean {
  if (reservation === undefined || !draft.reservations.includes(reservation)) return false;
  const spare = spareOf(draft);
  return spare.freeUntil(draft.now + job.occupancy, reservation) < job.nodesNeeded && !spare.couldImprove(reservation);
}

/** Removes the job's reservation from the draft for its turn. Looked up by owner: it may have moved to other nodes. */
function takeReservation({ draft, unvisited }: WalkState, job: Job): PlannedReservation | null {
  if (!unvisited.delete(job.input.id)) return null;
  const reservation = reservationOf(draft, job);
  if (reservation !== null) removeReservation(draft, reservation);
  return reservation;
}
