// How many nodes could be had at an instant beyond what is promised then, by number alone: which nodes, how
// they lie and what they are is left out, and so are other vClusters' holds. So it can only say too much;
// where even that is too little, nobody need look at nodes. It stands until a start or a reservation
// changes the draft.

import type { Draft } from "./draft.ts";
import type { Begun, Held, Spare } from "./held.ts";
import type { Returns } from "./returns.ts";

/** Starts of this plan whose end is looked at; the nodes of any beyond count as never taken. */
const BEGUN_LIMIT = 256;

export function spareOf(draft: Draft): Spare {
  draft.spare ??= createSpare(draft);
  return draft.spare;
}

export function returnsOf(availableFrom: Float64Array, now: number): Returns {
  const byInstant = new Map<number, number>();
  for (let node = 0; node < availableFrom.length; node += 1) {
    const at = availableFrom[node] as number;
    if (at > now && at !== Number.POSITIVE_INFINITY) byInstant.set(at, (byInstant.get(at) ?? 0) + 1);
  }
  const at = Float64Array.from(byInstant.keys()).sort(byTime);
  const count = new Int32Array(at.length);
  let sum = 0;
  for (let i = 0; i < at.length; i += 1) {
    sum += byInstant.get(at[i] as number) ?? 0;
    count[i] = sum;
  }
  return { at, count };
}

function createSpare(draft: Draft): Spare {
  draft.returns ??= returnsOf(draft.machine.availableFrom, draft.now);
  const { returns, now } = draft;
  const starts = heldStarts(draft);
  const there = (instant: number): number => {
    let count = draft.freeCount + backBy(returns, instant);
    for (let i = 0; i < draft.begun.length; i += 1) {
      const { endsAt, nodes } = draft.begun[i] as Begun;
      if (i >= BEGUN_LIMIT || endsAt <= instant) count += nodes;
    }
    return count;
  };
  const promised = (instant: number): number => {
    let count = 0;
    for (const held of draft.held) if (held.startsAt <= instant && instant < held.endsAt) count += held.nodes.length;
    return count;
  };
  const spareAt = Float64Array.from(starts, (at) => there(at) - promised(at));

  const ownAt = (own: Held | null, instant: number): number =>
    own !== null && own.startsAt <= instant && instant < own.endsAt ? own.nodes.length : 0;

  const couldBegin: Spare["couldBegin"] = (job, at, own = null) => {
    if (there(at) - promised(at) + ownAt(own, at) < job.least) return false;
    const end = at + job.occupies;
    for (let i = 0; i < starts.length; i += 1) {
      const start = starts[i] as number;
      if (start >= end) return true;
      if (start > at && (spareAt[i] as number) + ownAt(own, start) < job.least) return false;
    }
    return true;
  };
  let turns: Float64Array | null = null;

  return {
    get turns() {
      turns ??= turnsOf(draft, returns);
      return turns;
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
      if (draft.hasForeign || draft.begun.length > BEGUN_LIMIT) return true;
      for (const at of this.turns) {
        if (at >= promise.startsAt) return false;
        if (at > now && couldBegin(promise.job, at, promise)) return true;
      }
      return false;
    },
  };
}

function turnsOf({ begun, held, now }: Draft, returns: Returns): Float64Array {
  const others: number[] = [];
  for (let i = 0; i < begun.length; i += 1) others.push((begun[i] as Begun).endsAt);
  for (const { endsAt } of held) if (endsAt > now) others.push(endsAt);
  if (others.length === 0) return returns.at;
  const turns = new Float64Array(returns.at.length + others.length);
  turns.set(returns.at);
  turns.set(others, returns.at.length);
  return turns.sort(byTime);
}

function heldStarts(draft: Draft): Float64Array {
  return Float64Array.from(draft.held, (held) => held.startsAt).sort(byTime);
}

function backBy({ at, count }: Returns, instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) <= instant) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (count[low - 1] as number);
}

/** Equal instants are the same to everybody here. */
const byTime = (a: number, b: number): number => a - b;
