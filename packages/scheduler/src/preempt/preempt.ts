// Plans preemptions: an allocation that still waits may have running work of lower classes stopped, as a last resort. Not
// where it would start as soon without, and not where the victims cost more than the start is worth. The highest
// classes go first. Reservations of lower classes give way; freed nodes are reserved, so that no later step counts on
// them.

import { type AllocationId, after, DEFAULT_MAX_VICTIMS, HIGHEST_CLASS, type PreemptionReason } from "@lattice/core";
import type { PlanContext } from "../backfill/plan-context.ts";
import { OVERDUE_RELEASE, PREEMPT_TRIAL_LIMIT, PREEMPT_TRY_LIMIT, PREEMPTION_LIMIT } from "../base/bounds.ts";
import { type Job, toJob } from "../fit/job.ts";
import type { CycleInput, PendingInput } from "../input/cycle-input.ts";
import type { Preemption, Victim } from "../input/preemption.ts";
import type { Match } from "../machine/match.ts";
import { isFeasible } from "../place/feasibility.ts";
import { countFreeMatching, type Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import { headroomNow } from "../reserve/kept-quota.ts";
import { addReservation, findReservation, removeReservation, reservationOf } from "../reserve/reserve.ts";
import { preemptionValue } from "./cost.ts";
import { cannotWriteCheckpoint, type VictimCandidate, victimCandidates } from "./filter.ts";
import { createPreemptionTrial, type PreemptionTrial } from "./trial.ts";
import { findVictims, gainOf, largest, type VictimGain } from "./victim-set.ts";

/** `awaited`: allocations that wait for nodes freed by an earlier preemption or exchange. */
export function planPreemptions(plan: PlanContext, awaited: ReadonlySet<AllocationId>): readonly Preemption[] {
  const { input, draft } = plan;
  // A trial up to one allocation's turn does not ask about preemptions.
  if (input.victims === undefined || input.victims.length === 0 || input.stopAfter !== undefined) return [];
  const candidates = victimCandidates(input, draft.machine);
  const preemptions: Preemption[] = [];
  const takenVictims = new Set<string>();
  const gains = gainsOver(candidates);
  const budget = { trials: PREEMPT_TRIAL_LIMIT };
  for (const pending of claimants(plan, awaited, candidates)) {
    if (preemptions.length === PREEMPTION_LIMIT) break;
    const job = toJob(draft.machine, pending, input.signals);
    const found = planPreemptionFor(plan, { job, gains, takenVictims, budget });
    if (found === null) continue;
    preemptions.push(found);
    for (const victim of found.victims) takenVictims.add(victim.allocation);
  }
  return preemptions;
}

const classIn = (input: CycleInput, { preemptionClass }: PendingInput): number =>
  input.isSensitive === true ? HIGHEST_CLASS : preemptionClass;

/** Returns a few, since each costs a search over the machine: the highest classes first, then in queue order. */
function claimants(
  { input, draft, queue }: PlanContext,
  awaited: ReadonlySet<AllocationId>,
  candidates: readonly VictimCandidate[],
): PendingInput[] {
  const lowest = Math.min(...candidates.map(({ victim }) => victim.preemptionClass));
  const indexes: number[] = [];
  for (let at = 0; at < input.pending.length; at += 1) {
    const pending = input.pending[at] as PendingInput;
    if (classIn(input, pending) <= lowest || draft.placed.has(pending.id) || awaited.has(pending.id)) continue;
    indexes.push(at);
  }
  const classAt = (at: number): number => classIn(input, input.pending[at] as PendingInput);
  return indexes
    .sort((a, b) => classAt(b) - classAt(a) || queue.compare(a, b))
    .slice(0, PREEMPT_TRY_LIMIT)
    .map((at) => input.pending[at] as PendingInput);
}

interface Claimant {
  readonly job: Job;
  readonly gains: Gains;
  /** Victims of another allocation already. */
  readonly takenVictims: ReadonlySet<string>;
  readonly budget: { trials: number };
}

/** The nodes each candidate would free for the job; requests with the same match share the answer. */
type Gains = (job: Job, trial: PreemptionTrial) => readonly VictimGain[];

function gainsOver(candidates: readonly VictimCandidate[]): Gains {
  const known = new Map<Match, readonly VictimGain[]>();
  return (job, trial) => {
    const made = known.get(job.match);
    if (made !== undefined) return made;
    const useful: VictimGain[] = [];
    for (const candidate of candidates) {
      const gained = trial.gain(candidate);
      if (gained > 0) useful.push({ ...candidate, gained });
    }
    known.set(job.match, useful);
    return useful;
  };
}

function planPreemptionFor({ input, draft, quotas }: PlanContext, claim: Claimant): Preemption | null {
  const { job } = claim;
  const soon = draft.now + OVERDUE_RELEASE;
  const own = classIn(input, job.input);
  if (quotas.headroom(job.input.tenant, job.nodesNeeded) === 0 || !isFeasible(draft.machine, job)) return null;
  if (
    draft.budgets !== null &&
    draft.budgets.most(job, job.nodesNeeded, draft.now, draft.now + job.occupancy) < job.nodesNeeded
  ) {
    return null;
  }
  const reservation = reservationOf(draft, job);
  if (reservation !== null && reservation.startsAt <= soon) return null;
  const trial = createPreemptionTrial(draft, job);
  const gains = claim
    .gains(job, trial)
    .filter(({ victim }) => victim.preemptionClass < own && !claim.takenVictims.has(victim.allocation));
  // An upper bound that is quick to compute.
  if (countFreeMatching(draft, job) + gainOf(largest(gains, mostVictims(input))) < job.nodesNeeded) return null;
  const removed = removeLowerReservations(draft, own, reservation);
  // The quota of the reservations that are left, of its own and higher classes, is kept.
  const found = headroomNow(draft, quotas, job) === 0 ? null : search(input, claim, { trial, own, gains });
  // The start without preemption is searched last: it costs more than the rest.
  const without = found === null || reservation !== null ? null : findReservation(draft, job);
  const nodes = found === null || (without !== null && without.startsAt <= soon) ? null : trial.nodes(found);
  if (found === null || nodes === null) {
    for (const other of removed) addReservation(draft, other);
    return null;
  }
  draft.reservedIntervals.add({ startsAt: draft.now, endsAt: draft.now + job.occupancy, nodes });
  restoreReservations(
    draft,
    removed.filter((other) => other !== reservation),
  );
  return {
    allocation: job.input.id,
    victims: found.map((gain) => victimOf(input, gain)),
    nodes: nodes.flatMap((node) => draft.machine.nodes[node]?.id ?? []),
    startsAt: after(draft.now, OVERDUE_RELEASE),
  };
}

const mostVictims = ({ maxVictims = DEFAULT_MAX_VICTIMS }: CycleInput): number => maxVictims;

interface Claim {
  readonly trial: PreemptionTrial;
  /** The class of the claimant. */
  readonly own: number;
  /** Of the victims it may take. */
  readonly gains: readonly VictimGain[];
}

function search(
  input: CycleInput,
  { job, budget }: Claimant,
  { trial, own, gains }: Claim,
): readonly VictimGain[] | null {
  // A job that fits without victims waits for its turn in the queue.
  if (gains.length === 0) return null;
  const free = trial.free();
  if (free >= job.nodesNeeded && trial.fits([])) return null;
  const found = findVictims({
    gains,
    missing: Math.max(1, job.nodesNeeded - free),
    most: mostVictims(input),
    fits: (victims) => {
      budget.trials -= 1;
      return budget.trials >= 0 && trial.fits(victims);
    },
  });
  // A search that ran out of trials may hold more victims than needed.
  return found === null || budget.trials < 0 || !isWorthwhile(input, job, found, own) ? null : found;
}

/** Owners of the nodes and sensitive claims always may; others must be worth more than the victims cost. */
function isWorthwhile(input: CycleInput, job: Job, found: readonly VictimGain[], own: number): boolean {
  if (input.isSensitive === true || found.every(({ victim }) => victim.borrows)) return true;
  const highest = Math.max(...found.map(({ victim }) => victim.preemptionClass));
  const cost = found.reduce((sum, gain) => sum + gain.cost, 0);
  return cost < preemptionValue(job.input, own - highest);
}

function victimOf(input: CycleInput, { victim }: VictimGain): Victim {
  const reason: PreemptionReason = input.isSensitive === true ? "sensitive" : victim.borrows ? "reclaim" : "priority";
  const force = victim.checkpoints === true && cannotWriteCheckpoint(input, victim.allocation);
  return { allocation: victim.allocation, attempt: victim.attempt, reason, ...(force ? { force } : null) };
}

/** Removes the job's own reservation and those of lower classes for the search. */
function removeLowerReservations(
  draft: Draft,
  own: number,
  reservation: PlannedReservation | null,
): readonly PlannedReservation[] {
  const removed = draft.reservations.filter((other) => other === reservation || other.job.input.preemptionClass < own);
  for (const other of removed) removeReservation(draft, other);
  return removed;
}

/** Adds the reservations back whose nodes are still theirs. */
function restoreReservations(draft: Draft, removed: readonly PlannedReservation[]): void {
  for (const reservation of removed) {
    const { of: marks, mark } = draft.reservedIntervals.markReserved(reservation.startsAt, reservation.endsAt);
    if (reservation.nodes.every((node) => marks[node] !== mark)) addReservation(draft, reservation);
  }
}
