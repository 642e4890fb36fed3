// The rule that finds a black hole: a node on which job after job fails. Consecutive failures that are the node's own
// (no start, a failed prologue, a lost process) count against it: a number of different jobs is enough. A quick failure
// may be the fault of the work, such as a mistyped command, a missing folder or a missing image: it takes the same number
// of different users. Elements of one group are one job, since a mistake in one is in all. `apply` uses the rule with the
// failure itself, and the fault controller uses it later.

import { type Duration, duration, elementOf } from "../../base/ids.ts";
import type { Fault, Node } from "./node.ts";

/** Default for `failures`. */
export const FAULTS_TO_QUARANTINE = 3;
/** Default: a failure within this time counts against the node. */
const QUICK_FAILURE: Duration = duration(10_000);

interface FailureLimits {
  /** Number of different allocations with node failures, or of different users with quick failures. */
  readonly failures: number;
  readonly quick: Duration;
}

/** The rule as configured at the leader; it enters the log with the failure that it judges. */
export interface QuarantineRule extends FailureLimits {
  /** The largest part of all nodes that may be quarantined, in percent. */
  readonly maxPercent: number;
  /** Delay before the node is tried again. */
  readonly probation: Duration;
}

const USUAL: FailureLimits = { failures: FAULTS_TO_QUARANTINE, quick: QUICK_FAILURE };

/** Returns the reason as text; `null` when the node need not be quarantined. */
export function quarantineReason({ faults = [] }: Node, { failures, quick }: FailureLimits = USUAL): string | null {
  const row = sinceItDidWork(faults, quick);
  const own = new Set(row.filter((fault) => fault.own).map(workOf)).size;
  if (own >= failures) return `${own} allocations in a row could not be run on it`;
  const users = new Set(row.map(({ user }) => user)).size;
  return users >= failures ? `work of ${users} users in a row failed on it at once` : null;
}

/** Elements of a group count as one job. */
const workOf = ({ allocation }: Fault): string => elementOf(allocation)?.group ?? allocation;

function sinceItDidWork(faults: readonly Fault[], quick: Duration): readonly Fault[] {
  const last = faults.findLastIndex(({ own, after }) => !own && after !== undefined && after >= quick);
  return faults.slice(last + 1);
}
