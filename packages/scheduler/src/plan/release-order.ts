// Which nodes are released by an instant. Nodes that were busy before the plan are sorted by release once per cycle; a
// question then costs the nodes between its instant and the previous one. Nodes that the plan or a trial has changed
// are few and handled one by one.

import { putBit } from "../base/bits.ts";
import { type ReleaseTimes, releasedBy, releaseTimesOf } from "../input/releases.ts";
import type { Draft } from "./draft.ts";
import type { ReleaseOrder } from "./planned-reservation.ts";

/** Writes into `into` every node that is available at the instant, reserved or not. */
export function setReleasedBy(draft: Draft, instant: number, into: Uint32Array): void {
  const back = releaseOrderOf(draft);
  advance(back, releasedBy(back.times, instant));
  into.set(back.bits);
  const { changedNodes, availableFrom } = draft;
  for (let i = 0; i < changedNodes.length; i += 1) {
    const node = changedNodes[i] as number;
    putBit(into, node, (availableFrom[node] as number) <= instant);
  }
}

export function releaseOrderOf(draft: Draft): ReleaseOrder {
  draft.releaseOrder ??= createReleaseOrder(draft);
  return draft.releaseOrder;
}

/** Returns the releases of nodes that were busy before the plan. */
export function releaseTimesIn(draft: Draft): ReleaseTimes {
  const { releaseTally, machine, now } = draft;
  draft.releaseTimes ??=
    releaseTally === null ? releaseTimesOf(machine.availableFrom, now) : releaseTally.timesFrom(now);
  return draft.releaseTimes;
}

function advance(back: ReleaseOrder, count: number): void {
  const { order, bits } = back;
  for (; back.position < count; back.position += 1) putBit(bits, order[back.position] as number, true);
  for (; back.position > count; back.position -= 1) putBit(bits, order[back.position - 1] as number, false);
}

/** Places each node at the next position of its instant. */
function createReleaseOrder(draft: Draft): ReleaseOrder {
  const { machine, now } = draft;
  const times = releaseTimesIn(draft);
  const { at, count } = times;
  const order = new Int32Array(at.length === 0 ? 0 : (count[at.length - 1] as number));
  const next = new Int32Array(at.length);
  for (let i = 1; i < next.length; i += 1) next[i] = count[i - 1] as number;
  const { availableFrom } = machine;
  let instant = Number.NaN;
  let place = 0;
  for (let node = 0; node < availableFrom.length; node += 1) {
    const from = availableFrom[node] as number;
    if (from <= now || from === Number.POSITIVE_INFINITY) continue;
    // Neighbouring nodes are mostly released together.
    if (from !== instant) {
      instant = from;
      place = firstNotBefore(at, from);
    }
    order[next[place] as number] = node;
    next[place] = (next[place] as number) + 1;
  }
  const { released: bits } = draft.buffers;
  bits.set(machine.free);
  return { times, order, bits, position: 0 };
}

function firstNotBefore(at: readonly number[], instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
