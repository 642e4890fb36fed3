// Exchanges the last starts of a plan for other jobs that are worth more together: a start is worth its score times its
// nodes. The job that gives up its start gets a reservation at once, which the next cycles carry over, so no job gives way
// twice. The first start, jobs with a previous reservation and jobs that wait for freed nodes never give way. Short queues only:
// in a long queue a small job fills the gap.

import type { AllocationId } from "@lattice/core";
import { EXCHANGE_LIMIT, EXCHANGE_QUEUE_LIMIT, EXCHANGE_TRIAL_LIMIT } from "../base/bounds.ts";
import { areInterchangeable, type Job } from "../fit/job.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import { compareSubmission } from "../input/pending-order.ts";
import { isFeasible } from "../place/feasibility.ts";
import { commitStart, countFreeMatching, undoStart } from "../plan/draft.ts";
import { reservationDepth } from "../reserve/carry-over.ts";
import { headroomNow, mayReserve } from "../reserve/kept-quota.ts";
import { addReservation, findReservation, removeReservation, reservationOf } from "../reserve/reserve.ts";
import { totalMilli } from "../score/score.ts";
import { areIdentical } from "./hand-over.ts";
import { type PlanContext, placementOf, type StartedJob } from "./plan-context.ts";
import { startNow } from "./start-now.ts";

/** Allocations that gave up their start, with the ones that started instead. */
type Exchanges = ReadonlyMap<AllocationId, readonly AllocationId[]>;

/** Replaces placements of the plan and returns what was exchanged, in order. */
export function exchangeStarts(plan: PlanContext, awaited: ReadonlySet<AllocationId>): Exchanges {
  const { input, draft, queue, started } = plan;
  const exchanged = new Map<AllocationId, readonly AllocationId[]>();
  if (!isExchangeAllowed(plan)) return exchanged;
  const owners = new Set((input.previousReservations ?? []).map(({ allocation }) => allocation));
  const isBound = (id: AllocationId): boolean => owners.has(id) || awaited.has(id);
  const trials: Trials = { left: EXCHANGE_TRIAL_LIMIT, depth: reservationDepth(input) };
  const { movesLeft } = draft;
  // A trial is undone by restoring the reservations it removed, so none may move meanwhile.
  draft.movesLeft = 0;
  const bound = draft.reservations.filter(({ job }) => isBound(job.input.id));
  const isBehindIdentical = (job: Job): boolean =>
    bound.some((other) => areIdentical(other.job, job) && compareSubmission(other.job.input, job.input) < 0);
  let waiting = [...queue.select(({ id }) => !draft.placed.has(id) && !isBound(id))].filter(
    (job) => !isBehindIdentical(job),
  );
  for (const out of started.slice(1).reverse()) {
    if (exchanged.size === EXCHANGE_LIMIT || trials.left <= 0) break;
    if (isBound(out.job.input.id) || couldPreempt(input, out.job) || hasIdenticalBehind(plan, out.job)) continue;
    const replacements = findReplacements(plan, out, waiting, trials);
    if (replacements === null) continue;
    replacePlacement(plan, out, replacements);
    const gone = new Set(replacements.map(({ job }) => job));
    exchanged.set(
      out.job.input.id,
      replacements.map(({ job }) => job.input.id),
    );
    waiting = waiting.filter((job) => !gone.has(job));
  }
  draft.movesLeft = movesLeft;
  return exchanged;
}

/** A trial for one allocation ends at its turn; budgets, shared nodes and sensitive claims have rules of their own. */
function isExchangeAllowed({ input, draft, started }: PlanContext): boolean {
  const { isFifo, stopAfter, pending, sharedNodes, isSensitive } = input;
  if (isFifo || stopAfter !== undefined || sharedNodes !== undefined || isSensitive === true) return false;
  if (draft.budgets !== null || pending.length > EXCHANGE_QUEUE_LIMIT) return false;
  return started.length > 1 && reservationDepth(input) > 0;
}

function replacePlacement(plan: PlanContext, out: StartedJob, replacements: readonly StartedJob[]): void {
  const { placements } = plan;
  const at = placements.findIndex(({ allocation }) => allocation === out.job.input.id);
  placements.splice(at, 1, ...replacements.map(({ job, nodes }) => placementOf(plan, job, nodes, true)));
}

/** An identical later job has started too; that one gives way first. */
const hasIdenticalBehind = ({ draft, started }: PlanContext, job: Job): boolean =>
  started.some(
    ({ job: other }) =>
      areIdentical(other, job) && draft.placed.has(other.input.id) && compareSubmission(other.input, job.input) > 0,
  );

/** The next cycle would preempt running work for it, which a start now avoids. */
const couldPreempt = ({ victims }: CycleInput, { input: { preemptionClass } }: Job): boolean =>
  victims?.some((victim) => victim.preemptionClass < preemptionClass) === true;

interface Trials {
  left: number;
  /** The most reservations the plan may have. */
  readonly depth: number;
}

/** Returns what starts instead; `null`, with the draft unchanged, when nothing is worth clearly more. */
function findReplacements(
  plan: PlanContext,
  out: StartedJob,
  waiting: readonly Job[],
  trials: Trials,
): StartedJob[] | null {
  const { draft, quotas, basis } = plan;
  const { preemptionClass, tenant } = out.job.input;
  const scoreOf = (job: Job): number => totalMilli(basis, job);
  const worthOf = ({ job, nodes }: StartedJob): number => scoreOf(job) * nodes.length;
  const freed = draft.freeCount + out.nodes.length;
  const candidates = waiting.filter(
    (job) =>
      job.nodesNeeded <= freed &&
      job.input.preemptionClass >= preemptionClass &&
      !areInterchangeable(job, out.job) &&
      isFeasible(draft.machine, job),
  );
  const least = worthOf(out) * LEAST_GAIN;
  const atMost = candidates.reduce((sum, job) => sum + scoreOf(job) * Math.min(freed, job.input.maxNodes), 0);
  if (atMost <= least) return null;
  undoStarted(plan, out);
  const byValue = [...candidates].sort((a, b) => scoreOf(b) * b.nodesNeeded - scoreOf(a) * a.nodesNeeded);
  let best = least;
  let order: readonly Job[] | null = null;
  for (const first of [null, ...byValue]) {
    if (trials.left <= 0) break;
    // Of interchangeable jobs only the first in order may lead.
    if (first !== null && byValue.find((job) => areInterchangeable(job, first)) !== first) continue;
    trials.left -= 1;
    const tried = first === null ? candidates : [first, ...byValue.filter((job) => job !== first)];
    const found = startAll(plan, tried);
    const value = found.reduce((sum, start) => sum + worthOf(start), 0);
    for (const start of found.reverse()) undoStarted(plan, start);
    if (value > best) [best, order] = [value, tried];
  }
  const replacements = order === null ? [] : startAll(plan, order);
  const hasDepth = replacements.length > 0 && draft.reservations.length < trials.depth;
  const reservation = hasDepth && mayReserve(draft, quotas, out.job) ? findReservation(draft, out.job) : null;
  const isOvertaken = draft.reservations.some(
    (other) => other.startsAt < (reservation?.startsAt ?? 0) && areIdentical(other.job, out.job),
  );
  if (reservation !== null && !isOvertaken) {
    addReservation(draft, reservation);
    return replacements;
  }
  for (const start of replacements.reverse()) undoStarted(plan, start);
  commitStart(draft, out.job, out.nodes);
  quotas.charge(tenant, out.nodes.length);
  return null;
}

/** An exchange must be worth this much more. */
const LEAST_GAIN = 1.01;

/** Starts the jobs that can start, in this order; a job does not start before an identical one that cannot. */
function startAll({ draft, quotas }: PlanContext, jobs: readonly Job[]): StartedJob[] {
  const started: StartedJob[] = [];
  const waiting: Job[] = [];
  for (const job of jobs) {
    const headroom = headroomNow(draft, quotas, job);
    if (headroom === 0 || countFreeMatching(draft, job) < job.nodesNeeded) continue;
    if (waiting.some((other) => areIdentical(other, job))) continue;
    const reservation = reservationOf(draft, job);
    if (reservation !== null) removeReservation(draft, reservation);
    const nodes = startNow(draft, job, Math.min(job.input.maxNodes, headroom));
    if (nodes === null) {
      if (reservation !== null) addReservation(draft, reservation);
      waiting.push(job);
      continue;
    }
    commitStart(draft, job, nodes);
    quotas.charge(job.input.tenant, nodes.length);
    started.push(reservation === null ? { job, nodes } : { job, nodes, reservation });
  }
  return started;
}

function undoStarted({ draft, quotas }: PlanContext, { job, nodes, reservation }: StartedJob): void {
  undoStart(draft, job, nodes);
  quotas.refund(job.input.tenant, nodes.length);
  if (reservation !== undefined) addReservation(draft, reservation);
}
