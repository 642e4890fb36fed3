// Step 3 to 5 for one after the other, down the queue until nothing more can start or be reserved: start it, or
// better its promise, or reserve for it. A place that one finds goes to whoever stands ahead of it and asks for
// the same, see `take-over.ts`.

import type { AllocationId } from "@lattice/core";
import { startNow } from "./backfill.ts";
import type { CycleInput, PendingInput } from "./cycle-types.ts";
import type { Draft, Held } from "./draft.ts";
import { isPossible, type Job } from "./job.ts";
import { TRY_LIMIT } from "./limits.ts";
import type { Queue } from "./order.ts";
import { depthOf } from "./promises.ts";
import type { Ledger } from "./quota.ts";
import { hold, letGo, reserve } from "./reserve.ts";
import { spareOf } from "./spare.ts";
import { createLine, handOn, type Line, mateBehind, placeOf, startInstead } from "./take-over.ts";

export interface Walk {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly start: (job: Job, nodes: readonly number[], backfilled: boolean) => void;
  /** True where it shares a node with others from now on. */
  readonly join: (job: Job) => boolean;
  /** They have been settled before. */
  readonly awaited: ReadonlySet<AllocationId>;
  /** Those whose promise could not be kept as it was. */
  readonly lost: Set<PendingInput>;
}

/** What is known on the way down. */
interface Way extends Walk {
  readonly depth: number;
  /** Promises whose owners have not had their turn. */
  readonly promised: Map<AllocationId, Held>;
  readonly line: Line;
  /** To be called after a promise has changed hands or place. */
  readonly wake: () => void;
}

export function walk(input: CycleInput, given: Walk) {
  const { draft, ledger, queue, join, awaited, lost } = given;
  const depth = depthOf(input);
  const promised = new Map<AllocationId, Held>(draft.held.map((held) => [held.job.input.id, held]));
  const owners = new Set<unknown>(lost);
  for (const { job } of draft.held) owners.add(job.input);
  let considered = 0;
  let tried = 0;
  let someSleep = false;
  let last: AllocationId | null = null;
  const wake = (): void => {
    const { least, occupies } = queue.asleep;
    if (draft.held.length >= depth && least > spareOf(draft).until(draft.now + occupies)) return;
    queue.wake();
    someSleep = false;
  };
  const way: Way = { ...given, depth, promised, line: createLine(draft, queue), wake };
  while (tried < TRY_LIMIT && !(draft.freeCount === 0 && draft.held.length >= depth)) {
    if (last !== null && last === input.until) break;
    // With all reservations given out, those that the spare nodes do not suffice for could neither start nor reserve.
    if (!someSleep && depth > 0 && draft.held.length >= depth) {
      queue.letOthersSleep((one) => couldStart(draft, one) || owners.has(one.input));
      someSleep = true;
    }
    const job = queue.next();
    if (job === null) break;
    const { input: pending } = job;
    last = pending.id;
    considered += 1;
    if (draft.placed.has(pending.id) || awaited.has(pending.id)) continue;
    if (pending.shares === true && join(job)) {
      promised.delete(pending.id);
      tried += 1;
      continue;
    }
    const headroom = ledger.headroom(pending.tenant, job.least);
    if (headroom > 0 && isSettled(draft, job, promised.get(pending.id))) {
      promised.delete(pending.id);
      way.line.add(job);
      tried += 1;
      continue;
    }
    const promise = takePromise(draft, promised, pending.id);
    if (headroom === 0 || !isPossible(draft.machine, job)) {
      if (promise !== null) wake();
      continue;
    }
    tried += 1;
    const left = startOrNot(way, job, promise);
    if (left === "started") continue;
    if (draft.held.length >= depth && depth > 0 && left === null) {
      if (!takeFromBehind(way, job, null)) way.line.add(job);
      continue;
    }
    if (!settle(way, job, promise, left)) break;
  }
  const otherwise = tried < TRY_LIMIT ? ("priority" as const) : ("not_considered" as const);
  return { considered, otherwise };
}

/** Starts it, and whoever goes before it on what it finds; else the promise that it is left with. */
function startOrNot(way: Way, job: Job, given: Held | null): Held | null | "started" {
  const { draft, ledger, promised, line, start, wake } = way;
  const { tenant, maxNodes } = job.input;
  let promise = given;
  while (true) {
    const headroom = ledger.headroom(tenant, job.least);
    const nodes = headroom === 0 ? null : startNow(draft, job, Math.min(maxNodes, headroom));
    if (nodes === null) return promise;
    const instead = startInstead(draft, line, { job, promise, nodes, ledger });
    start(instead?.job ?? job, nodes, draft.held.length > promised.size);
    if (instead === null) {
      if (given !== null) wake();
      return "started";
    }
    promise = instead.left;
    wake();
  }
}

/** It has a reservation, the best there is, or none; false where nobody may go on. */
function settle(way: Way, job: Job, given: Held | null, left: Held | null): boolean {
  const { draft, depth, line, wake } = way;
  let promise = left;
  let hasChanged = false;
  while (true) {
    // A promise is kept as it was, nodes and all, unless it can be bettered.
    const better = draft.held.length >= depth && depth > 0 ? null : reserve(draft, job, promise?.startsAt);
    // Depth 0 means no backfill: whoever waits for nodes that will come back is not overtaken.
    if (better !== null && depth === 0) return false;
    if (better === null) break;
    const rest = handOn(draft, line, { job, promise, found: better, depth });
    if (rest === "own") {
      promise = better;
      break;
    }
    promise = rest;
    hasChanged = true;
  }
  if (takeFromBehind(way, job, promise)) return true;
  if (promise !== null) hold(draft, promise);
  line.add(job);
  if (hasChanged || (given !== null && promise !== given)) wake();
  return true;
}

/**
 * A promise that could not be kept is not made good at the end of the line: who asks for the same and stands
 * behind gives up its own. True where that is better than `found`.
 */
function takeFromBehind({ draft, ledger, lost, promised, line, start, wake }: Way, job: Job, found: Held | null) {
  if (!lost.has(job.input)) return false;
  const behind = mateBehind(draft, job, promised);
  if (behind === null || (found !== null && found.startsAt <= behind.startsAt)) return false;
  letGo(draft, behind);
  lost.add(behind.job.input);
  const headroom = ledger.headroom(job.input.tenant, job.least);
  const nodes = startNow(draft, job, Math.min(job.input.maxNodes, headroom));
  if (nodes !== null) start(job, nodes, draft.held.length > promised.size);
  else {
    hold(draft, placeOf(behind, job));
    line.add(job);
  }
  wake();
  return true;
}

/** It has a promise, cannot start now, and cannot begin before its promise: by number alone. */
function isSettled(draft: Draft, job: Job, promise: Held | undefined): boolean {
  if (promise === undefined || !draft.held.includes(promise)) return false;
  const spare = spareOf(draft);
  return spare.until(draft.now + job.occupies, promise) < job.least && !spare.couldBetter(promise);
}

/** Its own promise does not stand in its way. Reservations may have moved, so it is looked up by owner. */
function takePromise(draft: Draft, promised: Map<AllocationId, Held>, id: AllocationId): Held | null {
  if (!promised.delete(id)) return null;
  const held = draft.held.find((one) => one.job.input.id === id) ?? null;
  if (held !== null) letGo(draft, held);
  return held;
}

/** By number alone. */
const couldStart = (draft: Draft, job: Job): boolean =>
  job.least <= draft.freeCount &&
  (draft.held.length === 0 || job.least <= spareOf(draft).until(draft.now + job.occupies));
