// What speaks against a node: allocations that failed there, one after the other. A failure counts when it says something about
// the node (nothing could be started, the node could not be made ready, a process was lost), or when it came quickly, which by
// itself may be the fault of the work: then it takes several users. Work that completes, or fails later, clears the node. How quickly is
// a setting of whoever judges: a failure is kept with the time that it took.

import type { PlacedPhase } from "../allocation/phase.ts";
import type { ReportCommand } from "../command.ts";
import { type Duration, duration, type Instant } from "../ids.ts";
import type { Step } from "../step.ts";
import type { Fault, Node } from "./node.ts";

/** Different allocations that failed for reasons of the node, or different users whose work failed at once, unless configured. */
export const FAULTS_TO_SET_ASIDE = 3;
/** Work that fails so soon speaks against the node, unless configured. */
export const QUICK_FAILURE: Duration = duration(10_000);
/** Nothing that fails later is taken for quick by anybody. */
export const MOST_QUICK_FAILURE: Duration = duration(3_600_000);
/** Kept of a node; as many can be asked for. */
export const MAX_FAULTS = 8;
const OF_THE_NODE: readonly string[] = ["launch_failed", "prologue_failed", "lost"];
/** Servers before keep no such list. */
const FAULTS_VERSION = 2;

export function noteOutcome(step: Step, report: ReportCommand, phase: Pick<PlacedPhase, "placedAt">): void {
  if (step.version < FAULTS_VERSION || (report.state !== "completed" && report.state !== "failed")) return;
  const node = step.state.node(report.node);
  const fault = report.state === "failed" ? faultOf(step, report, phase.placedAt) : null;
  if (node === undefined || (fault === null && node.faults === undefined)) return;
  const { faults = [], ...cleared } = node;
  if (fault === null) step.state.putNode(cleared);
  else step.state.putNode({ ...node, faults: [...faults, fault].slice(-MAX_FAULTS) });
}

function faultOf(step: Step, { allocation, reason }: ReportCommand, placedAt: Instant): Fault | null {
  const user = step.state.allocation(allocation)?.user;
  if (user === undefined) return null;
  if (OF_THE_NODE.includes(reason ?? "")) return { allocation, user, own: true };
  const after = duration(Math.max(0, step.at - placedAt));
  const quick = (reason === "exit_code" || reason === "signal") && after < MOST_QUICK_FAILURE;
  return quick ? { allocation, user, own: false, after } : null;
}

export interface BlackHole {
  /** Different allocations that failed for reasons of the node, or different users whose work failed at once. */
  readonly failures: number;
  readonly quick: Duration;
}

const USUAL: BlackHole = { failures: FAULTS_TO_SET_ASIDE, quick: QUICK_FAILURE };

/** In words; null: it does its work, as far as anybody can tell. */
export function whyBlackHole({ faults = [] }: Node, { failures, quick }: BlackHole = USUAL): string | null {
  const row = sinceItDidWork(faults, quick);
  const own = new Set(row.filter((fault) => fault.own).map(({ allocation }) => allocation)).size;
  if (own >= failures) return `${own} allocations in a row could not be run on it`;
  const users = new Set(row.map(({ user }) => user)).size;
  return users >= failures ? `work of ${users} users in a row failed on it at once` : null;
}

function sinceItDidWork(faults: readonly Fault[], quick: Duration): readonly Fault[] {
  const last = faults.findLastIndex(({ own, after = 0 }) => !own && after >= quick);
  return faults.slice(last + 1);
}
