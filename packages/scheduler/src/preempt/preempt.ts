// Step 6: make room. Who still waits and is of a higher class than something that runs may have up to three
// allocations stopped, as the last resort: not where it would start as soon by itself, and not where
// stopping costs more than the job is worth. The highest classes are looked at first. Reservations of
// lower classes give way; nodes freed for one are held, so that no other counts on them.

import { after, HIGHEST_CLASS, MAX_VICTIMS, type PreemptionReason } from "@lattice/core";
import type { CycleInput, PendingInput } from "../cycle-types.ts";
import { type Draft, freeOfMatch, type Held } from "../draft.ts";
import { isPossible, type Job, jobOf } from "../job.ts";
import { EXPECTED_BACK_SOON, PREEMPT_TRIAL_LIMIT, PREEMPT_TRY_LIMIT, PREEMPTION_LIMIT } from "../limits.ts";
import type { Match } from "../machine/match.ts";
import type { Queue } from "../order.ts";
import type { Ledger } from "../quota.ts";
import { hold, letGo, reserve } from "../reserve.ts";
import { preemptionValue } from "./cost.ts";
import { type Candidate, cannotWrite, stoppable } from "./filter.ts";
import type { Preemption, Victim } from "./preempt-types.ts";
import { type Trial, trialOf } from "./trial.ts";
import { type Gain, victimSet } from "./victim-set.ts";

export interface Room {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly queue: Queue;
  /** Those for whom others are being stopped already. */
  readonly awaited: ReadonlySet<string>;
}

export function makeRoom(input: CycleInput, room: Room): readonly Preemption[] {
  if (input.victims === undefined || input.victims.length === 0) return [];
  const candidates = stoppable(input, room.draft.machine);
  const decided: Preemption[] = [];
  const gone = new Set<string>();
  const gains = gainsOver(candidates);
  const budget = { trials: PREEMPT_TRIAL_LIMIT };
  for (const pending of claimants(input, room, candidates)) {
    if (decided.length === PREEMPTION_LIMIT) break;
    const found = makeRoomFor(input, room, {
      job: jobOf(room.draft.machine, pending, input.signals),
      gains,
      gone,
      budget,
    });
    if (found === null) continue;
    decided.push(found);
    for (const victim of found.victims) gone.add(victim.allocation);
  }
  return decided;
}

const classIn = (input: CycleInput, { preemptionClass }: PendingInput): number =>
  input.sensitive === true ? HIGHEST_CLASS : preemptionClass;

/** The highest classes first, then as the queue has them; few, since each costs a look at the machine. */
function claimants(
  input: CycleInput,
  { draft, awaited, queue }: Room,
  candidates: readonly Candidate[],
): PendingInput[] {
  const lowest = Math.min(...candidates.map(({ victim }) => victim.preemptionClass));
  const places: number[] = [];
  for (let at = 0; at < input.pending.length; at += 1) {
    const pending = input.pending[at] as PendingInput;
    if (classIn(input, pending) <= lowest || draft.placed.has(pending.id) || awaited.has(pending.id)) continue;
    places.push(at);
  }
  const classAt = (at: number): number => classIn(input, input.pending[at] as PendingInput);
  return places
    .sort((a, b) => classAt(b) - classAt(a) || queue.compare(a, b))
    .slice(0, PREEMPT_TRY_LIMIT)
    .map((at) => input.pending[at] as PendingInput);
}

interface Claim {
  readonly job: Job;
  readonly gains: Gains;
  /** Those that are stopped for another already. */
  readonly gone: ReadonlySet<string>;
  readonly budget: { trials: number };
}

/** What each candidate would give; requests that the same nodes can take share the answer. */
type Gains = (job: Job, trial: Trial) => readonly Gain[];

function gainsOver(candidates: readonly Candidate[]): Gains {
  const known = new Map<Match, readonly Gain[]>();
  return (job, trial) => {
    const made = known.get(job.match);
    if (made !== undefined) return made;
    const gains = candidates.map((candidate): Gain => ({ ...candidate, gained: trial.gain(candidate) }));
    const useful = gains.filter(({ gained }) => gained > 0);
    known.set(job.match, useful);
    return useful;
  };
}

function makeRoomFor(input: CycleInput, { draft, ledger }: Room, claim: Claim): Preemption | null {
  const { job } = claim;
  const soon = draft.now + EXPECTED_BACK_SOON;
  const own = classIn(input, job.input);
  if (ledger.headroom(job.input.tenant, job.least) === 0 || !isPossible(draft.machine, job)) return null;
  if (draft.budgets !== null && draft.budgets.most(job, job.least, draft.now, draft.now + job.occupies) < job.least) {
    return null;
  }
  const waits = draft.held.find((held) => held.job.input.id === job.input.id) ?? null;
  if (waits !== null && waits.startsAt <= soon) return null;
  const trial = trialOf(draft, job);
  if (freeOfMatch(draft, job) + mostFreed(claim, trial, own, mostVictims(input)) < job.least) return null;
  const aside = putAside(draft, own, waits);
  const found = search(input, claim, trial, own);
  // What it would get by itself is looked up last: it costs more than the rest.
  const bySelf = found === null || waits !== null ? null : reserve(draft, job);
  const nodes = found === null || (bySelf !== null && bySelf.startsAt <= soon) ? null : trial.nodes(found);
  if (found === null || nodes === null) {
    for (const held of aside) hold(draft, held);
    return null;
  }
  draft.holds.add({ startsAt: draft.now, endsAt: draft.now + job.occupies, nodes });
  takeUp(
    draft,
    aside.filter((held) => held !== waits),
  );
  return {
    allocation: job.input.id,
    victims: found.map((gain) => victimOf(input, gain)),
    nodes: nodes.flatMap((node) => draft.machine.nodes[node]?.id ?? []),
    startsAt: after(draft.now, EXPECTED_BACK_SOON),
  };
}

const mostVictims = ({ maxVictims = MAX_VICTIMS }: CycleInput): number => maxVictims;

/** What stopping the largest would give at most: the quickest thing to know. */
function mostFreed({ job, gains, gone }: Claim, trial: Trial, own: number, most: number): number {
  const largest: number[] = [];
  for (const { gained, victim } of gains(job, trial)) {
    if (victim.preemptionClass >= own || gone.has(victim.allocation)) continue;
    if (largest.length < most) largest.push(gained);
    else if (gained > (largest[0] as number)) largest[0] = gained;
    else continue;
    largest.sort((a, b) => a - b);
  }
  return largest.reduce((sum, gained) => sum + gained, 0);
}

function search(
  input: CycleInput,
  { job, gains: gainsOf, gone, budget }: Claim,
  trial: Trial,
  own: number,
): readonly Gain[] | null {
  const gains = gainsOf(job, trial).filter(
    ({ victim }) => victim.preemptionClass < own && !gone.has(victim.allocation),
  );
  // What fits as it is waits for its turn, not for anybody's end.
  if (gains.length === 0) return null;
  const free = trial.free();
  if (free >= job.least && trial.fits([])) return null;
  const found = victimSet({
    gains,
    missing: Math.max(1, job.least - free),
    most: mostVictims(input),
    fits: (victims) => {
      budget.trials -= 1;
      return budget.trials >= 0 && trial.fits(victims);
    },
  });
  // A search that was cut off may hold more than is needed.
  return found === null || budget.trials < 0 || !isWorth(input, job, found, own) ? null : found;
}

/** Owners and sensitive claims take what is theirs; others must be worth more than they cost. */
function isWorth(input: CycleInput, job: Job, found: readonly Gain[], own: number): boolean {
  if (input.sensitive === true || found.every(({ victim }) => victim.borrows)) return true;
  const highest = Math.max(...found.map(({ victim }) => victim.preemptionClass));
  const cost = found.reduce((sum, gain) => sum + gain.cost, 0);
  return cost < preemptionValue(job.input, own - highest);
}

function victimOf(input: CycleInput, { victim }: Gain): Victim {
  const reason: PreemptionReason = input.sensitive === true ? "sensitive" : victim.borrows ? "reclaim" : "priority";
  const force = victim.checkpoints === true && cannotWrite(input, victim.allocation);
  return { allocation: victim.allocation, attempt: victim.attempt, reason, ...(force ? { force } : null) };
}

/** Its own reservation, and those of lower classes, do not stand in its way. */
function putAside(draft: Draft, own: number, waits: Held | null): readonly Held[] {
  const aside = draft.held.filter((held) => held === waits || held.job.input.preemptionClass < own);
  for (const held of aside) letGo(draft, held);
  return aside;
}

/** Whatever can stay as it was. */
function takeUp(draft: Draft, aside: readonly Held[]): void {
  for (const held of aside) {
    const { of: marks, taken } = draft.holds.taken(held.startsAt, held.endsAt);
    if (held.nodes.every((node) => marks[node] !== taken)) hold(draft, held);
  }
}
