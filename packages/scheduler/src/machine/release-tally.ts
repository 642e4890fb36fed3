// How many nodes are released at which instant, maintained across cycles. There are as many instants as ends of running
// work, far fewer than nodes.

import type { ReleaseTally, ReleaseTimes } from "../input/releases.ts";
import { expectedRelease } from "./availability.ts";

export function createReleaseTally(): ReleaseTally {
  const times: number[] = [];
  const counts: number[] = [];
  /** Nodes of one allocation are added and removed together. */
  let last = 0;

  function placeOf(instant: number): number {
    if (times[last] === instant) return last;
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((times[middle] as number) < instant) low = middle + 1;
      else high = middle;
    }
    last = low;
    return low;
  }

  return {
    add(instant, change) {
      if (instant === Number.POSITIVE_INFINITY) return;
      const at = placeOf(instant);
      if (times[at] !== instant) {
        times.splice(at, 0, instant);
        counts.splice(at, 0, change);
        return;
      }
      const left = (counts[at] as number) + change;
      counts[at] = left;
      if (left !== 0) return;
      times.splice(at, 1);
      counts.splice(at, 1);
    },
    isOverdue: (now) => times.length > 0 && (times[0] as number) <= now,
    timesFrom(now) {
      let overdue = 0;
      let first = 0;
      for (; first < times.length && (times[first] as number) <= now; first += 1) overdue += counts[first] as number;
      return sums(times, counts, { first, overdue, soon: expectedRelease(now, now) });
    },
  };
}

interface Overdue {
  /** The index of the first instant that is not overdue. */
  readonly first: number;
  readonly overdue: number;
  /** When overdue nodes are expected. */
  readonly soon: number;
}

function sums(times: readonly number[], counts: readonly number[], { first, overdue, soon }: Overdue): ReleaseTimes {
  const at: number[] = [];
  const count: number[] = [];
  let sum = 0;
  let isSoonIn = overdue === 0;
  const add = (instant: number, nodes: number): void => {
    sum += nodes;
    if (at.length > 0 && at[at.length - 1] === instant) {
      count[count.length - 1] = sum;
      return;
    }
    at.push(instant);
    count.push(sum);
  };
  for (let i = first; i < times.length; i += 1) {
    const instant = times[i] as number;
    if (!isSoonIn && instant >= soon) {
      add(soon, overdue);
      isSoonIn = true;
    }
    add(instant, counts[i] as number);
  }
  if (!isSoonIn) add(soon, overdue);
  return { at, count };
}
