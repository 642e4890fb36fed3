// How many nodes could be had at an instant beyond what is promised then, by number alone: which nodes, how
// they lie and what they are is left out, and so are other vClusters' holds. So it can only say too much;
// where even that is too little, nobody need look at nodes. It stands until a start or a reservation
// changes the draft.

import { countBy } from "./coming-back.ts";
import type { Draft } from "./draft.ts";
import type { Begun, Held, Spare } from "./held.ts";
import type { Returns } from "./returns.ts";

/** Starts of this plan whose end is looked at; the nodes of any beyond count as never taken. */
const BEGUN_LIMIT = 256;

export function spareOf(draft: Draft): Spare {
  draft.spare ??= createSpare(draft);
  return draft.spare;
}

/** When nodes that were busy before the plan come back. */
export function returnsIn(draft: Draft): Returns {
  draft.returns ??= returnsOf(draft.machine.availableFrom, draft.now);
  return draft.returns;
}

function returnsOf(availableFrom: Float64Array, now: number): Returns {
  const byInstant = new Map<number, number>();
  for (let node = 0; node < availableFrom.length; node += 1) {
    const at = availableFrom[node] as number;
    if (at > now && at !== Number.POSITIVE_INFINITY) byInstant.set(at, (byInstant.get(at) ?? 0) + 1);
  }
  const at = inOrder(Float64Array.from(byInstant.keys()));
  const count = new Int32Array(at.length);
  let sum = 0;
  for (let i = 0; i < at.length; i += 1) {
    sum += byInstant.get(at[i] as number) ?? 0;
    count[i] = sum;
  }
  return { at, count };
}

function createSpare(draft: Draft): Spare {
  const returns = returnsIn(draft);
  const { now, held, begun } = draft;
  const starts = new Float64Array(held.length);
  for (let i = 0; i < held.length; i += 1) starts[i] = (held[i] as Held).startsAt;
  inOrder(starts);
  /** Beyond what is promised at that instant, of those that were busy so many being back. */
  const spareWith = (instant: number, back: number): number => {
    let count = draft.freeCount + back;
    for (let i = 0; i < begun.length; i += 1) {
      const { endsAt, nodes } = begun[i] as Begun;
      if (i >= BEGUN_LIMIT || endsAt <= instant) count += nodes;
    }
    for (let i = 0; i < held.length; i += 1) {
      const { startsAt, endsAt, nodes } = held[i] as Held;
      if (startsAt <= instant && instant < endsAt) count -= nodes.length;
    }
    return count;
  };
  const spareAt = new Float64Array(starts.length);
  for (let i = 0; i < starts.length; i += 1) {
    const start = starts[i] as number;
    spareAt[i] = spareWith(start, countBy(returns, start));
  }
  const ownAt = (own: Held | null, instant: number): number =>
    own !== null && own.startsAt <= instant && instant < own.endsAt ? own.nodes.length : 0;

  let turns: Float64Array | null = null;
  /** By turn, made with the turns: many ask about all of them. */
  let spareThen = new Int32Array(0);
  const findTurns = (): Float64Array => {
    if (turns !== null) return turns;
    turns = turnsOf(draft, returns);
    spareThen = new Int32Array(turns.length);
    let next = 0;
    for (let i = 0; i < turns.length; i += 1) {
      const at = turns[i] as number;
      while (next < returns.at.length && (returns.at[next] as number) <= at) next += 1;
      spareThen[i] = spareWith(at, next === 0 ? 0 : (returns.count[next - 1] as number));
    }
    return turns;
  };
  const couldBegin: Spare["couldBegin"] = (job, turn, own = null) => {
    const at = findTurns()[turn] as number;
    if ((spareThen[turn] as number) + ownAt(own, at) < job.least) return false;
    const end = at + job.occupies;
    for (let i = 0; i < starts.length; i += 1) {
      const start = starts[i] as number;
      if (start >= end) return true;
      if (start > at && (spareAt[i] as number) + ownAt(own, start) < job.least) return false;
    }
    return true;
  };

  return {
    get turns() {
      return findTurns();
    },
    couldBegin,
    until(instant, own = null) {
      let least = draft.freeCount;
      for (let i = 0; i < starts.length && (starts[i] as number) < instant; i += 1) {
        least = Math.min(least, (spareAt[i] as number) + ownAt(own, starts[i] as number));
      }
      return least;
    },
    couldBetter(promise) {
      if (draft.hasForeign || begun.length > BEGUN_LIMIT) return true;
      const all = findTurns();
      for (let turn = 0; turn < all.length; turn += 1) {
        const at = all[turn] as number;
        if (at >= promise.startsAt) return false;
        if (at > now && couldBegin(promise.job, turn, promise)) return true;
      }
      return false;
    },
  };
}

/** Two lists in order become one. */
function turnsOf({ begun, held, now }: Draft, { at }: Returns): Float64Array {
  const others = new Float64Array(begun.length + held.length);
  let count = 0;
  for (let i = 0; i < begun.length; i += 1, count += 1) others[count] = (begun[i] as Begun).endsAt;
  for (let i = 0; i < held.length; i += 1) {
    const { endsAt } = held[i] as Held;
    if (endsAt <= now) continue;
    others[count] = endsAt;
    count += 1;
  }
  if (count === 0) return at;
  const more = inOrder(others.subarray(0, count));
  const turns = new Float64Array(at.length + count);
  for (let i = 0, next = 0, other = 0; i < turns.length; i += 1) {
    const isOther = next === at.length || (other < count && (more[other] as number) < (at[next] as number));
    turns[i] = (isOther ? more[other] : at[next]) as number;
    if (isOther) other += 1;
    else next += 1;
  }
  return turns;
}

/** Few are put in order at once, and then mostly are already. */
const FEW = 32;

function inOrder(instants: Float64Array): Float64Array {
  // Equal instants are the same to everybody here.
  if (instants.length > FEW) return instants.sort((a, b) => a - b);
  for (let i = 1; i < instants.length; i += 1) {
    const moving = instants[i] as number;
    let hole = i;
    for (; hole > 0 && (instants[hole - 1] as number) > moving; hole -= 1)
      instants[hole] = instants[hole - 1] as number;
    instants[hole] = moving;
  }
  return instants;
}
