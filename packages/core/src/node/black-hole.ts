// The one rule of which node eats the queue. Failures in a row speak against a node that say something about it (nothing could be
// started, it could not be made ready, a process was lost): so many different pieces of work are enough. What only came quickly may
// be the fault of the work, such as a mistyped command, and so may a folder or an image that is not there: then it takes as many
// different users. Elements of one group are one piece of work, since what is mistyped in one is so in all. Used by `apply` with the
// failure itself, and by who looks again later.

import { elementOf } from "../group/range.ts";
import { type Duration, duration } from "../ids.ts";
import type { Fault, Node } from "./node.ts";

/** Different allocations that failed for reasons of the node, or different users whose work failed at once, unless configured. */
export const FAULTS_TO_SET_ASIDE = 3;
/** Work that fails so soon speaks against the node, unless configured. */
export const QUICK_FAILURE: Duration = duration(10_000);

export interface BlackHole {
  /** Different allocations that failed for reasons of the node, or different users whose work failed at once. */
  readonly failures: number;
  readonly quick: Duration;
}

/** The whole rule, as the leader is configured: it goes into the log with the failure that it judges. */
export interface SetAsideRule extends BlackHole {
  /** Of all nodes, in percent, that may be set aside. */
  readonly mostPercent: number;
  /** Before the node is tried again. */
  readonly probation: Duration;
}

const USUAL: BlackHole = { failures: FAULTS_TO_SET_ASIDE, quick: QUICK_FAILURE };

/** In words; null: it does its work, as far as anybody can tell. */
export function whyBlackHole({ faults = [] }: Node, { failures, quick }: BlackHole = USUAL): string | null {
  const row = sinceItDidWork(faults, quick);
  const own = new Set(row.filter((fault) => fault.own).map(workOf)).size;
  if (own >= failures) return `${own} allocations in a row could not be run on it`;
  const users = new Set(row.map(({ user }) => user)).size;
  return users >= failures ? `work of ${users} users in a row failed on it at once` : null;
}

/** The group of an element; any other is a piece of work by itself. */
const workOf = ({ allocation }: Fault): string => elementOf(allocation)?.group ?? allocation;

function sinceItDidWork(faults: readonly Fault[], quick: Duration): readonly Fault[] {
  const last = faults.findLastIndex(({ own, after }) => !own && after !== undefined && after >= quick);
  return faults.slice(last + 1);
}
