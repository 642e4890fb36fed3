// Which nodes are back by an instant. Those that were busy before the plan are put in order of their return once per
// cycle; a question then costs the nodes between its instant and the one asked about before it. Nodes that the plan
// itself has given away, or a trial has moved, are few and looked at one by one.

import { putBit } from "./bits.ts";
import type { Draft } from "./draft.ts";
import { type ComingBack, countBy, type Returns, returnsOf } from "./returns.ts";

/** Written into `into`: every node that can be had at the instant, promised or not. */
export function setBackBy(draft: Draft, instant: number, into: Uint32Array): void {
  const back = comingBackOf(draft);
  advance(back, countBy(back.returns, instant));
  into.set(back.bits);
  const { moved, availableFrom } = draft;
  for (let i = 0; i < moved.length; i += 1) {
    const node = moved[i] as number;
    putBit(into, node, (availableFrom[node] as number) <= instant);
  }
}

export function comingBackOf(draft: Draft): ComingBack {
  draft.comingBack ??= make(draft);
  return draft.comingBack;
}

/** When nodes that were busy before the plan come back. */
export function returnsIn(draft: Draft): Returns {
  const { returning, machine, now } = draft;
  draft.returns ??= returning === null ? returnsOf(machine.availableFrom, now) : returning.from(now);
  return draft.returns;
}

function advance(back: ComingBack, count: number): void {
  const { order, bits } = back;
  for (; back.known < count; back.known += 1) putBit(bits, order[back.known] as number, true);
  for (; back.known > count; back.known -= 1) putBit(bits, order[back.known - 1] as number, false);
}

/** Each node goes to the next place of its instant. */
function make(draft: Draft): ComingBack {
  const { machine, now } = draft;
  const returns = returnsIn(draft);
  const { at, count } = returns;
  const order = new Int32Array(at.length === 0 ? 0 : (count[at.length - 1] as number));
  const next = new Int32Array(at.length);
  for (let i = 1; i < next.length; i += 1) next[i] = count[i - 1] as number;
  const { availableFrom } = machine;
  let instant = Number.NaN;
  let place = 0;
  for (let node = 0; node < availableFrom.length; node += 1) {
    const from = availableFrom[node] as number;
    if (from <= now || from === Number.POSITIVE_INFINITY) continue;
    // Nodes side by side mostly come back together.
    if (from !== instant) {
      instant = from;
      place = placeOf(at, from);
    }
    order[next[place] as number] = node;
    next[place] = (next[place] as number) + 1;
  }
  const { back: bits } = draft.space;
  bits.set(machine.free);
  return { returns, order, bits, known: 0 };
}

function placeOf(at: readonly number[], instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
