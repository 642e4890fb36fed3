// How many nodes could be had at an instant beyond what is promised then, by number alone: which nodes, how
// they lie and what they are is left out, and so are other vClusters' holds. So it can only say too much;
// where even that is too little, nobody need look at nodes. It stands until a start or a reservation
// changes the draft.

import { returnsIn } from "./coming-back.ts";
import type { Draft } from "./draft.ts";
import type { Begun, Held, Spare } from "./held.ts";
import { countBy, type Returns } from "./returns.ts";

/** Starts of this plan whose end is looked at; the nodes of any beyond count as never taken. */
const BEGUN_LIMIT = 256;

export function spareOf(draft: Draft): Spare {
  draft.spare ??= createSpare(draft);
  return draft.spare;
}

function createSpare(draft: Draft): Spare {
  const returns = returnsIn(draft);
  const { now, held, begun } = draft;
  // Plain lists throughout: for a few numbers a typed one costs more to make than to read.
  const starts: number[] = [];
  for (let i = 0; i < held.length; i += 1) starts.push((held[i] as Held).startsAt);
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
  const spareAt: number[] = [];
  for (let i = 0; i < starts.length; i += 1) {
    const start = starts[i] as number;
    spareAt.push(spareWith(start, countBy(returns, start)));
  }
  const ownAt = (own: Held | null, instant: number): number =>
    own !== null && own.startsAt <= instant && instant < own.endsAt ? own.nodes.length : 0;

  let turns: readonly number[] | null = null;
  /** By turn, made with the turns: many ask about all of them. */
  const spareThen: number[] = [];
  const findTurns = (): readonly number[] => {
    if (turns !== null) return turns;
    turns = turnsOf(draft, returns);
    let next = 0;
    for (let i = 0; i < turns.length; i += 1) {
      const at = turns[i] as number;
      while (next < returns.at.length && (returns.at[next] as number) <= at) next += 1;
      spareThen.push(spareWith(at, next === 0 ? 0 : (returns.count[next - 1] as number)));
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
function turnsOf({ begun, held, now }: Draft, { at }: Returns): readonly number[] {
  const others: number[] = [];
  for (let i = 0; i < begun.length; i += 1) others.push((begun[i] as Begun).endsAt);
  for (let i = 0; i < held.length; i += 1) {
    const { endsAt } = held[i] as Held;
    if (endsAt > now) others.push(endsAt);
  }
  if (others.length === 0) return at;
  inOrder(others);
  const turns: number[] = [];
  let next = 0;
  for (let i = 0; i < others.length; i += 1) {
    const other = others[i] as number;
    for (; next < at.length && (at[next] as number) <= other; next += 1) turns.push(at[next] as number);
    turns.push(other);
  }
  for (; next < at.length; next += 1) turns.push(at[next] as number);
  return turns;
}

/** Few are put in order at once, and then mostly are already. */
const FEW = 32;

function inOrder(instants: number[]): void {
  // Equal instants are the same to everybody here.
  if (instants.length > FEW) instants.sort((a, b) => a - b);
  for (let i = 1; i < instants.length; i += 1) {
    const moving = instants[i] as number;
    let hole = i;
    for (; hole > 0 && (instants[hole - 1] as number) > moving; hole -= 1)
      instants[hole] = instants[hole - 1] as number;
    instants[hole] = moving;
  }
}
