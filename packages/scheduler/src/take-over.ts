// Who asks for the same is served in the order of the queue. Promises are kept from cycle to cycle, so a place that
// opens, now or earlier than was thought, is often found first by one behind: its own promise is on those nodes
// and stands in everybody else's way. Then the place goes to the first ahead of it that asks for the same, whose old
// place goes on to the next of them, and so down to the one that found it. A promise never becomes later by that;
// where it would, the one that found the place keeps it.

import type { AllocationId } from "@lattice/core";
import { bitsOf, haveCommon } from "./bits.ts";
import type { Draft, Held } from "./draft.ts";
import type { Job } from "./job.ts";
import type { Match } from "./machine/match.ts";
import type { Queue } from "./order.ts";
import type { Ledger } from "./quota.ts";
import { hold, letGo } from "./reserve.ts";

/** A place that serves one serves the other as well. What shares a node has rules of its own. */
export function areAlike(a: Job, b: Job): boolean {
  if (a.match !== b.match || a.occupies !== b.occupies || a.least !== b.least) return false;
  if (a.maxGroups !== b.maxGroups || a.modest !== b.modest) return false;
  const { input: one } = a;
  const { input: other } = b;
  if (one.maxNodes !== other.maxNodes || one.shares === true || other.shares === true) return false;
  if ((one.storageMBps ?? 0) !== (other.storageMBps ?? 0)) return false;
  const { constraints: asked } = one;
  const { constraints: wanted } = other;
  return (
    asked.topology === wanted.topology &&
    asked.requireConformance === wanted.requireConformance &&
    asked.preferSameNuma === wanted.preferSameNuma
  );
}

/** Alike, of one tenant and of one class: nothing but their submission tells them apart. */
export const areMates = (a: Job, b: Job): boolean =>
  a.input.tenant === b.input.tenant && a.input.preemptionClass === b.input.preemptionClass && areAlike(a, b);

/** Those that have had their turn in this cycle and still wait. */
export interface Line {
  /** The one drawn last. */
  add(job: Job): void;
  remove(job: Job): void;
  /** Those of them that ask for the same as the one drawn last and go before it, in order. */
  ahead(job: Job): Iterable<Job>;
}

interface Waiting {
  readonly job: Job;
  readonly place: number;
}

export function createLine({ placed }: Pick<Draft, "placed">, queue: Pick<Queue, "compare" | "last">): Line {
  const those = new Map<Match, Map<number, Waiting[]>>();
  const listOf = (job: Job): Waiting[] | undefined => those.get(job.match)?.get(job.occupies);
  return {
    add(job) {
      const place = queue.last;
      const list = listOf(job);
      if (list !== undefined) {
        let at = list.length;
        // Mostly at the end: who slept may come before others that did not.
        while (at > 0 && queue.compare((list[at - 1] as Waiting).place, place) > 0) at -= 1;
        list.splice(at, 0, { job, place });
        return;
      }
      const byLength = those.get(job.match) ?? new Map<number, Waiting[]>();
      those.set(job.match, byLength);
      byLength.set(job.occupies, [{ job, place }]);
    },
    remove(job) {
      const list = listOf(job);
      const at = list?.findIndex((one) => one.job === job) ?? -1;
      if (at >= 0) list?.splice(at, 1);
    },
    *ahead(job) {
      for (const { job: one, place } of listOf(job) ?? NONE) {
        if (queue.compare(place, queue.last) >= 0) return;
        if (!placed.has(one.input.id) && areAlike(one, job)) yield one;
      }
    },
  };
}

const NONE: readonly Waiting[] = [];

/** The same place for another. */
export const placeOf = ({ startsAt, endsAt, nodes }: Held, job: Job): Held => ({ job, startsAt, endsAt, nodes });

interface Start {
  readonly job: Job;
  /** Its own, which has been let go. */
  readonly promise: Held | null;
  /** On which it could start now. */
  readonly nodes: readonly number[];
  readonly ledger: Ledger;
}

/** Who starts there in its place, and the promise that it is left with; null: nobody, and nothing has changed. */
export function startInstead(
  draft: Draft,
  line: Line,
  { job, promise, nodes, ledger }: Start,
): { readonly job: Job; readonly left: Held | null } | null {
  const found: Held = { job, startsAt: draft.now, endsAt: draft.now + job.occupies, nodes };
  const mayStart = (one: Job): boolean => ledger.headroom(one.input.tenant, one.least) >= nodes.length;
  const steps = stepsDown(draft, line, { found, promise, mayTake: mayStart });
  const [first] = steps;
  if (first === undefined) return null;
  take(draft, steps.slice(1), first.old);
  line.remove(first.job);
  return { job: first.job, left: leftWith(steps, promise, job) };
}

interface Found {
  readonly job: Job;
  /** Its own, which has been let go. */
  readonly promise: Held | null;
  /** A place that it could have, earlier than that; not held yet. */
  readonly found: Held;
  /** So many reservations there may be. */
  readonly depth: number;
}

/** Hands a place on to those ahead; the promise that the one that found it is left with, not held, or "own". */
export function handOn(draft: Draft, line: Line, { job, promise, found, depth }: Found): Held | null | "own" {
  const steps = stepsDown(draft, line, { found, promise, mayTake: () => true });
  const last = steps.at(-1);
  if (last === undefined) return "own";
  const left = leftWith(steps, promise, job);
  const more = (last.old === null ? 1 : 0) + (left === null ? 0 : 1);
  if (draft.held.length + more > depth) return "own";
  take(draft, steps, null);
  return left;
}

/** One of those ahead, the earlier place that it takes, and the one that it gives up. */
interface Step {
  readonly job: Job;
  readonly place: Held;
  readonly old: Held | null;
}

interface Opening {
  readonly found: Held;
  readonly promise: Held | null;
  /** Whether one may have the place found. */
  readonly mayTake: (job: Job) => boolean;
}

/**
 * Down the line each takes what the one before it gave up, where that is earlier than what it has. What the last one
 * gives up is for the owner of the promise, so it may not be later than that, unless the promise stands beside the
 * place found.
 */
function stepsDown(draft: Draft, line: Line, { found, promise, mayTake }: Opening): Step[] {
  const steps: Step[] = [];
  const latest = promise === null || areApart(draft, found, promise) ? null : promise.startsAt;
  let place: Held = found;
  for (const one of line.ahead(found.job)) {
    const old = heldBy(draft, one);
    if (old !== null && old.startsAt <= place.startsAt) continue;
    if (latest !== null && (old === null || old.startsAt > latest)) continue;
    if (place === found && !mayTake(one)) continue;
    steps.push({ job: one, place, old });
    if (old === null) break;
    place = old;
  }
  return steps;
}

const heldBy = (draft: Draft, { input }: Job): Held | null =>
  draft.held.find((held) => held.job.input.id === input.id) ?? null;

function areApart({ availableFrom: { length: size } }: Draft, a: Held, b: Held): boolean {
  if (a.endsAt <= b.startsAt || b.endsAt <= a.startsAt) return true;
  return !haveCommon(bitsOf(a.nodes, size), bitsOf(b.nodes, size));
}

/** The last place given up, or its own promise where that is earlier. */
function leftWith(steps: readonly Step[], promise: Held | null, job: Job): Held | null {
  const old = steps.at(-1)?.old ?? null;
  if (old === null) return promise;
  return promise !== null && promise.startsAt < old.startsAt ? promise : placeOf(old, job);
}

/** `gone`: what one that starts held. */
function take(draft: Draft, steps: readonly Step[], gone: Held | null): void {
  if (gone !== null) letGo(draft, gone);
  for (const { old } of steps) if (old !== null) letGo(draft, old);
  for (const { job, place } of steps) hold(draft, placeOf(place, job));
}

/** The earliest promise of one that asks for the same, is of the same tenant and class, and has not had its turn. */
export function mateBehind(draft: Draft, job: Job, promised: ReadonlyMap<AllocationId, Held>): Held | null {
  let best: Held | null = null;
  for (const held of draft.held) {
    if (!promised.has(held.job.input.id) || !areMates(held.job, job)) continue;
    if (best === null || held.startsAt < best.startsAt) best = held;
  }
  return best;
}
