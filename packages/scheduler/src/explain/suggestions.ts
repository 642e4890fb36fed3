// Changes to a request that would start it sooner, each one tried. Variants are first tried on the plan; the helpful
// ones are tried again by a full cycle. In a large cluster, variants that a cycle would certainly keep are accepted
// without one, and of the rest the soonest are tried by a cycle up to the allocation's turn: at least one, more while
// there is time. A generator that pauses after every trial, so that the caller can stop in time.

import type { AllocationId, Instant, VClusterId } from "@lattice/core";
import type { CycleInput, CycleResult, PendingInput } from "../input/cycle-input.ts";
import { totalMilli } from "../score/score.ts";
import { type CycleRecord, type FoundJob, findJob, toJobOf, withHardwareIndex } from "./cycle-record.ts";
import { cycleWouldKeep } from "./cycle-would-keep.ts";
import { durationText } from "./text.ts";
import { type StartTrial, tryByCycle, tryOnPlan } from "./trial.ts";
import { type Variant, walltimesBefore, withNodes, withoutConstraints, withWalltime } from "./variants.ts";

export interface Suggestion {
  readonly kind: Variant["kind"] | "vcluster";
  readonly text: string;
  readonly change: Readonly<Record<string, string>>;
  readonly startsAt: Instant;
  readonly startsNow: boolean;
  /** By a full cycle with the change, or by a turn in the current plan. */
  readonly tried: "cycle" | "plan";
}

interface SuggestionOptions {
  /** When it starts without a change; `null` when no start is known. */
  readonly expected: Instant | null;
  /** Records of other vClusters that would accept it. */
  readonly others: readonly CycleRecord[];
  /** Confirms by full cycles. Absent: the trial on the plan decides. */
  readonly cycle?: (input: CycleInput) => CycleResult;
}

/** The most suggestions, soonest first. */
const SUGGESTION_LIMIT = 5;

/** An earlier start must be earlier by a minute and a tenth of the wait. */
const LEAST_GAIN_MS = 60_000;
const LEAST_GAIN_SHARE = 0.1;

/** The time for the trials of one question, so that an explanation feels immediate. */
export const TRIAL_BUDGET_MS = 20;

/** The least number of trials: suggestions in a small cluster must not depend on the load of the server. */
const LEAST_TRIALS = 12;
/** Nodes plus ten for each pending allocation: larger cycles are not run again for a trial. */
const CYCLE_TRIAL_SIZE = 3_000;

/** Returns the best helpful changes, soonest first; as many trials as time allows. */
export function suggestions(
  record: CycleRecord,
  id: AllocationId,
  options: SuggestionOptions & { readonly canContinue: () => boolean },
): Suggestion[] {
  const found: HelpfulChange[] = [];
  let tried = 0;
  for (const one of findChanges(record, id, options)) {
    tried += 1;
    if (one !== null) found.push(one);
    if (tried >= LEAST_TRIALS && !options.canContinue()) break;
  }
  const accepted: Suggestion[] = [];
  let cycles = 0;
  for (const one of found.sort((a, b) => a.suggestion.startsAt - b.suggestion.startsAt)) {
    if (accepted.length === SUGGESTION_LIMIT) break;
    const { suggestion: own, of, original, pending } = one;
    if (own.tried === "cycle" || cycleWouldKeep(of, { original, pending, startsNow: own.startsNow })) {
      accepted.push(own);
      continue;
    }
    if (options.cycle === undefined || (cycles > 0 && !options.canContinue())) continue;
    cycles += 1;
    const settled = confirmByCycle(record, id, one, options);
    if (settled !== null) accepted.push(settled);
  }
  return accepted.sort((a, b) => a.startsAt - b.startsAt);
}

/** Runs a cycle up to the allocation's turn with the change; `null` when it does not help after all. */
function confirmByCycle(
  record: CycleRecord,
  id: AllocationId,
  one: HelpfulChange,
  options: SuggestionOptions,
): Suggestion | null {
  const { cycle } = options;
  const trial = cycle === undefined ? null : tryByCycle(cycle, withHardwareIndex(one.of), one.pending, "none");
  if (trial === null || !targetOf(record, id, options).isBetter(trial)) return null;
  return suggestion(one.change, trial, "cycle", record.input.now);
}

const canRunCycles = ({ input: { nodes, pending } }: CycleRecord): boolean =>
  nodes.length + 10 * pending.length <= CYCLE_TRIAL_SIZE;

/** A change that helps, and the vCluster where it does. */
interface HelpfulChange {
  readonly suggestion: Suggestion;
  readonly change: Change;
  readonly pending: PendingInput;
  readonly of: CycleRecord;
  /** The request in that queue; `null` when it is not there. */
  readonly original: PendingInput | null;
}

/** Yields after every trial: a helpful change, or `null`. */
export function* tryVariants(
  record: CycleRecord,
  id: AllocationId,
  options: SuggestionOptions,
): Generator<Suggestion | null> {
  for (const one of findChanges(record, id, options)) yield one === null ? null : one.suggestion;
}

function* findChanges(
  record: CycleRecord,
  id: AllocationId,
  given: SuggestionOptions,
): Generator<HelpfulChange | null> {
  const { cycle: whole, ...plain } = given;
  const options: SuggestionOptions = whole !== undefined && canRunCycles(record) ? given : plain;
  const found = findJob(record, id);
  if (found === null) return;
  const { input: pending } = found.job;
  // Without backfill no job overtakes the ones ahead, which the plan alone does not show.
  if (options.cycle === undefined && record.input.backfillDepth === 0 && !isFirst(record, found)) return;
  const aim = targetOf(record, id, options);
  for (const variants of [
    nodeVariants(record, pending),
    walltimeVariants(record, pending),
    constraintVariants(pending),
  ]) {
    yield* helpfulVariants(record, pending, variants, {
      aim,
      cycle: options.cycle,
      isSettledLater: whole !== undefined,
    });
  }
  for (const other of options.others) {
    const { vcluster, backfillDepth } = other.input;
    if (backfillDepth === 0 && hasPending(other)) continue;
    // A lender of this vCluster need not lend to the other.
    const { borrowsFrom: _, ...own } = pending;
    const cycle = canRunCycles(other) ? whole : undefined;
    const onPlan = tryOnPlan(other, own, aim.before);
    const trial =
      onPlan === null || cycle === undefined ? onPlan : tryByCycle(cycle, withHardwareIndex(other), own, "none");
    const helps = trial !== null && (cycle === undefined || aim.isBetter(trial));
    const tried = cycle === undefined ? "plan" : "cycle";
    const change = inVCluster(vcluster);
    const accepted = helps ? suggestion(change, trial, tried, record.input.now) : null;
    yield accepted === null ? null : { suggestion: accepted, change, pending: own, of: other, original: null };
  }
}

const hasPending = ({ input, decision }: CycleRecord): boolean =>
  input.pending.some(({ id }) => !decision.draft.placed.has(id));

function isFirst({ input, decision }: CycleRecord, { at }: FoundJob): boolean {
  const { placed } = decision.draft;
  return input.pending.every(
    ({ id }, other) => other === at || placed.has(id) || decision.queue.compare(other, at) > 0,
  );
}

/** In order; variants from the mildest on must each help more than the one before. */
interface Variants {
  readonly each: Iterable<Variant>;
  readonly one: boolean;
}

interface Trying {
  readonly aim: Target;
  readonly cycle: SuggestionOptions["cycle"];
  /** Changes that help on the plan are confirmed by a cycle before they are suggested. */
  readonly isSettledLater: boolean;
}

function* helpfulVariants(
  record: CycleRecord,
  original: PendingInput,
  { each, one }: Variants,
  { aim: { before, isBetter }, cycle, isSettledLater }: Trying,
): Generator<HelpfulChange | null> {
  const total = totalOf(record, original);
  let soonest = Number.POSITIVE_INFINITY;
  for (const variant of each) {
    const onPlan = tryOnPlan(record, variant.pending, before);
    // A variant that falls back in the queue may be overtaken by others; only a cycle can tell.
    if (onPlan === null || (cycle === undefined && !isSettledLater && totalOf(record, variant.pending) < total)) {
      yield null;
      continue;
    }
    const trial = cycle === undefined ? onPlan : tryByCycle(cycle, record.input, variant.pending);
    const helps = trial !== null && isBetter(trial) && trial.startsAt < soonest;
    const tried = cycle === undefined ? "plan" : "cycle";
    const accepted = helps ? suggestion(variant, trial, tried, record.input.now) : null;
    yield accepted === null
      ? null
      : { suggestion: accepted, change: variant, pending: variant.pending, of: record, original };
    if (!helps || !one) continue;
    if (trial.startsNow) return;
    soonest = trial.startsAt;
  }
}

const totalOf = ({ input, decision }: CycleRecord, pending: PendingInput): number =>
  input.isFifo ? 0 : totalMilli(decision.basis, toJobOf(decision, pending, input));

/** From nearly all nodes down to one, in steps that halve. */
function nodeVariants({ decision }: CycleRecord, pending: PendingInput): Variants {
  const least = Math.max(1, pending.constraints.requiredNodes.length);
  const counts = new Set<number>();
  const free = decision.draft.freeCount;
  if (free > 0 && free < pending.minNodes) counts.add(free);
  for (const share of [0.9, 0.75, 0.5, 0.25, 0.125]) counts.add(Math.floor(pending.minNodes * share));
  counts.add(1);
  const inOrder = [...counts].filter((count) => count >= least && count < pending.minNodes).sort((a, b) => b - a);
  return { each: inOrder.map((count) => withNodes(pending, count)), one: true };
}

/** Ends before each reservation starts. */
function walltimeVariants({ input, decision }: CycleRecord, pending: PendingInput): Variants {
  const starts = [...decision.draft.reservations, ...(input.foreignReservations ?? [])].map(
    ({ startsAt }) => startsAt as number,
  );
  const each = walltimesBefore(input.now, starts, pending.walltime).map((ms) => withWalltime(pending, ms));
  return { each, one: true };
}

const constraintVariants = (pending: PendingInput): Variants => ({ each: withoutConstraints(pending), one: false });

interface Target {
  /** A start on the plan counts only before this instant; in the past, only a start now counts. */
  readonly before: number;
  /** For full cycles. */
  readonly isBetter: (trial: StartTrial) => boolean;
}

/** An estimated start is compared only with an estimated one, never with a reserved one. */
function targetOf({ input, result }: CycleRecord, id: AllocationId, { expected }: SuggestionOptions): Target {
  if (expected === null) return { before: Number.POSITIVE_INFINITY, isBetter: () => true };
  const reserved = result.reservations.some(({ allocation }) => allocation === id);
  const latest = expected - Math.max(LEAST_GAIN_MS, LEAST_GAIN_SHARE * (expected - input.now));
  return {
    before: reserved ? latest : input.now,
    isBetter: ({ startsAt, startsNow, isCertain }) => startsNow || ((reserved || !isCertain) && startsAt <= latest),
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
  { startsAt, startsNow }: StartTrial,
  tried: Suggestion["tried"],
  now: Instant,
): Suggestion {
  const when = startsNow ? "it would start now" : `it would start in ${durationText(startsAt - now)}`;
  return { kind, text: `With ${text} ${when}.`, change, startsAt, startsNow, tried };
}
