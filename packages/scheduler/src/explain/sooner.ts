// What would start an allocation sooner, each change tried before it is told. Variants are sifted by trials on the
// plan, and those that help are tried again by a whole cycle. Where the cluster is too large for that, what a
// cycle would keep beyond doubt is told as it is, and of the rest the soonest are tried by a cycle up to its turn: one in any case, more
// while there is time. A generator: it pauses after every trial, so that whoever asks can stop when time is up.

import type { AllocationId, Instant, VClusterId } from "@lattice/core";
import type { CycleInput, CycleResult, PendingInput } from "../cycle-types.ts";
import { totalMilli } from "../score/score.ts";
import { cycleWouldKeep } from "./proof.ts";
import { type Found, findIn, jobIn, onItsFloor, type Study } from "./study.ts";
import { type Trial, tryByCycle, tryOnPlan } from "./trial.ts";
import { type Variant, walltimesBefore, withNodes, withoutConstraints, withWalltime } from "./variants.ts";
import { durationText } from "./words.ts";

export interface Suggestion {
  readonly kind: Variant["kind"] | "vcluster";
  readonly text: string;
  readonly change: Readonly<Record<string, string>>;
  readonly startsAt: Instant;
  readonly startsNow: boolean;
  /** A whole cycle with the change, or its turn in the present plan. */
  readonly tried: "cycle" | "plan";
}

export interface SoonerOptions {
  /** When it starts as it is; null: never, as far as anyone can see. */
  readonly expected: Instant | null;
  /** Studies of other vClusters that would take it. */
  readonly others: readonly Study[];
  /** Tries again by whole cycles; absent: the trial on the plan stands. */
  readonly cycle?: (input: CycleInput) => CycleResult;
}

/** Told in the end, soonest first. */
export const SUGGESTION_LIMIT = 5;

/** A start that is earlier by less is no reason to change anything: a minute, or a tenth of the wait. */
const LEAST_GAIN_MS = 60_000;
const LEAST_GAIN_SHARE = 0.1;

/** For the trials of one question: with the rest of an explanation it stays within what a person calls at once. */
export const TRIAL_BUDGET_MS = 20;

/** Made in any case: what a small cluster is told must not depend on how busy the machine is. */
const LEAST_TRIALS = 12;
/** Nodes, and ten for each that waits: a cycle over more is not run again for a trial. */
const CYCLE_TRIAL_SIZE = 3_000;

/** As many trials as time allows; the best of what helps, soonest first. */
export function suggestions(
  study: Study,
  id: AllocationId,
  options: SoonerOptions & { readonly mayGoOn: () => boolean },
): Suggestion[] {
  const found: Sifted[] = [];
  let tried = 0;
  for (const one of sift(study, id, options)) {
    tried += 1;
    if (one !== null) found.push(one);
    if (tried >= LEAST_TRIALS && !options.mayGoOn()) break;
  }
  const told: Suggestion[] = [];
  let cycles = 0;
  for (const one of found.sort((a, b) => a.suggestion.startsAt - b.suggestion.startsAt)) {
    if (told.length === SUGGESTION_LIMIT) break;
    const { suggestion: own, of, original, pending } = one;
    if (own.tried === "cycle" || cycleWouldKeep(of, { original, pending, startsNow: own.startsNow })) {
      told.push(own);
      continue;
    }
    if (options.cycle === undefined || (cycles > 0 && !options.mayGoOn())) continue;
    cycles += 1;
    const settled = settle(study, id, one, options);
    if (settled !== null) told.push(settled);
  }
  return told.sort((a, b) => a.startsAt - b.startsAt);
}

/** A cycle up to its turn, with the change in place; null where it does not help after all. */
function settle(study: Study, id: AllocationId, one: Sifted, options: SoonerOptions): Suggestion | null {
  const { cycle } = options;
  const trial = cycle === undefined ? null : tryByCycle(cycle, onItsFloor(one.of), one.pending, "none");
  if (trial === null || !aimOf(study, id, options).isBetter(trial)) return null;
  return suggestion(one.change, trial, "cycle", study.input.now);
}

const isSmall = ({ input: { nodes, pending } }: Study): boolean =>
  nodes.length + 10 * pending.length <= CYCLE_TRIAL_SIZE;

/** A change that helps, and where it does. */
interface Sifted {
  readonly suggestion: Suggestion;
  readonly change: Change;
  readonly pending: PendingInput;
  readonly of: Study;
  /** As it waits in that queue; null: it does not. */
  readonly original: PendingInput | null;
}

/** Yields after every trial: a change that helps, or null. */
export function* sooner(study: Study, id: AllocationId, options: SoonerOptions): Generator<Suggestion | null> {
  for (const one of sift(study, id, options)) yield one === null ? null : one.suggestion;
}

function* sift(study: Study, id: AllocationId, given: SoonerOptions): Generator<Sifted | null> {
  const { cycle: whole, ...plain } = given;
  const options: SoonerOptions = whole !== undefined && isSmall(study) ? given : plain;
  const found = findIn(study, id);
  if (found === null) return;
  const { input: pending } = found.job;
  // Without backfill nobody overtakes whoever waits ahead, and the plan alone does not show that.
  if (options.cycle === undefined && study.input.backfillDepth === 0 && !isFirst(study, found)) return;
  const aim = aimOf(study, id, options);
  for (const variants of [
    nodeVariants(study, pending),
    walltimeVariants(study, pending),
    constraintVariants(pending),
  ]) {
    yield* thatHelp(study, pending, variants, { aim, cycle: options.cycle, isSettledLater: whole !== undefined });
  }
  for (const other of options.others) {
    const { vcluster, backfillDepth } = other.input;
    if (backfillDepth === 0 && someWait(other)) continue;
    // Who lends to this vCluster need not lend to the other.
    const { borrowsFrom: _, ...own } = pending;
    const cycle = isSmall(other) ? whole : undefined;
    const onPlan = tryOnPlan(other, own, aim.before);
    const trial = onPlan === null || cycle === undefined ? onPlan : tryByCycle(cycle, onItsFloor(other), own, "none");
    const helps = trial !== null && (cycle === undefined || aim.isBetter(trial));
    const tried = cycle === undefined ? "plan" : "cycle";
    const change = inVCluster(vcluster);
    const told = helps ? suggestion(change, trial, tried, study.input.now) : null;
    yield told === null ? null : { suggestion: told, change, pending: own, of: other, original: null };
  }
}

const someWait = ({ input, decided }: Study): boolean => input.pending.some(({ id }) => !decided.draft.placed.has(id));

function isFirst({ input, decided }: Study, { at }: Found): boolean {
  const { placed } = decided.draft;
  return input.pending.every(({ id }, other) => other === at || placed.has(id) || decided.queue.compare(other, at) > 0);
}

/** In order; of a kind that is tried from the mildest change on, each must help more than the one before. */
interface Variants {
  readonly each: Iterable<Variant>;
  readonly one: boolean;
}

interface Trying {
  readonly aim: Aim;
  readonly cycle: SoonerOptions["cycle"];
  /** Those that help on the plan are tried by a cycle before they are told. */
  readonly isSettledLater: boolean;
}

function* thatHelp(
  study: Study,
  original: PendingInput,
  { each, one }: Variants,
  { aim: { before, isBetter }, cycle, isSettledLater }: Trying,
): Generator<Sifted | null> {
  const total = totalOf(study, original);
  let soonest = Number.POSITIVE_INFINITY;
  for (const variant of each) {
    const onPlan = tryOnPlan(study, variant.pending, before);
    // One that falls back in the queue may be overtaken by those that its original held off: only a cycle can tell.
    if (onPlan === null || (cycle === undefined && !isSettledLater && totalOf(study, variant.pending) < total)) {
      yield null;
      continue;
    }
    const trial = cycle === undefined ? onPlan : tryByCycle(cycle, study.input, variant.pending);
    const helps = trial !== null && isBetter(trial) && trial.startsAt < soonest;
    const tried = cycle === undefined ? "plan" : "cycle";
    const told = helps ? suggestion(variant, trial, tried, study.input.now) : null;
    yield told === null ? null : { suggestion: told, change: variant, pending: variant.pending, of: study, original };
    if (!helps || !one) continue;
    if (trial.now) return;
    soonest = trial.startsAt;
  }
}

const totalOf = ({ input, decided }: Study, pending: PendingInput): number =>
  input.fifo ? 0 : totalMilli(decided.basis, jobIn(decided, pending, input));

/** From nearly all nodes down to one, in steps that halve. */
function nodeVariants({ decided }: Study, pending: PendingInput): Variants {
  const least = Math.max(1, pending.constraints.requiredNodes.length);
  const counts = new Set<number>();
  const free = decided.draft.freeCount;
  if (free > 0 && free < pending.minNodes) counts.add(free);
  for (const share of [0.9, 0.75, 0.5, 0.25, 0.125]) counts.add(Math.floor(pending.minNodes * share));
  counts.add(1);
  const inOrder = [...counts].filter((count) => count >= least && count < pending.minNodes).sort((a, b) => b - a);
  return { each: inOrder.map((count) => withNodes(pending, count)), one: true };
}

/** Gone before each reservation begins. */
function walltimeVariants({ input, decided }: Study, pending: PendingInput): Variants {
  const starts = [...decided.draft.held, ...(input.foreign ?? [])].map(({ startsAt }) => startsAt as number);
  const each = walltimesBefore(input.now, starts, pending.walltime).map((ms) => withWalltime(pending, ms));
  return { each, one: true };
}

const constraintVariants = (pending: PendingInput): Variants => ({ each: withoutConstraints(pending), one: false });

interface Aim {
  /** A start on the plan is of use before this; now or earlier: only a start now is. */
  readonly before: number;
  /** For whole cycles. */
  readonly isBetter: (trial: Trial) => boolean;
}

/** A start that is only expected is compared with one that is only expected, never with a certain one. */
function aimOf({ input, result }: Study, id: AllocationId, { expected }: SoonerOptions): Aim {
  if (expected === null) return { before: Number.POSITIVE_INFINITY, isBetter: () => true };
  const reserved = result.reservations.some(({ allocation }) => allocation === id);
  const latest = expected - Math.max(LEAST_GAIN_MS, LEAST_GAIN_SHARE * (expected - input.now));
  return {
    before: reserved ? latest : input.now,
    isBetter: ({ startsAt, now, certain }) => now || ((reserved || !certain) && startsAt <= latest),
  };
}

const inVCluster = (vcluster: VClusterId) => ({
  kind: "vcluster" as const,
  text: `the vCluster ${vcluster}`,
  change: { vcluster },
});

type Change = Pick<Suggestion, "kind" | "text" | "change">;

function suggestion(
  { kind, text, change }: Change,
  { startsAt, now: startsNow }: Trial,
  tried: Suggestion["tried"],
  now: Instant,
): Suggestion {
  const when = startsNow ? "it would start now" : `it would start in ${durationText(startsAt - now)}`;
  return { kind, text: `With ${text} ${when}.`, change, startsAt, startsNow, tried };
}
