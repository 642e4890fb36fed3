// What is kept of failures on a node, for the rule of black holes to judge: those that say something about the node, and those
// that came quickly. Work that completes, or fails later, clears the node, and work that could be begun on none of several nodes speaks
// against none of them. How quickly is a setting of whoever judges: a failure is kept with the time that it took.

import type { PlacedPhase } from "../allocation/phase.ts";
import type { ReportCommand } from "../command.ts";
import { type AllocationId, type Duration, duration, type Instant, type NodeId } from "../ids.ts";
import type { Step } from "../step.ts";
import type { Fault, Node } from "./node.ts";

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

function faultOf(step: Step, { allocation, reason, mayBeWork }: ReportCommand, placedAt: Instant): Fault | null {
  const user = step.state.allocation(allocation)?.user;
  if (user === undefined) return null;
  if (OF_THE_NODE.includes(reason ?? "")) return { allocation, user, own: mayBeWork !== true };
  const after = duration(Math.max(0, step.at - placedAt));
  const quick = (reason === "exit_code" || reason === "signal") && after < MOST_QUICK_FAILURE;
  return quick ? { allocation, user, own: false, after } : null;
}

/** Of work that several nodes could not begin: it is the work. Returns the nodes that have less against them now. */
export function withdrawFaults(step: Step, allocation: AllocationId, nodes: readonly NodeId[]): readonly Node[] {
  const changed: Node[] = [];
  for (const id of nodes) {
    const node = step.state.node(id);
    if (node?.faults === undefined) continue;
    const faults = node.faults.filter((fault) => fault.allocation !== allocation);
    if (faults.length === node.faults.length) continue;
    const { faults: _before, ...rest } = node;
    const left: Node = faults.length === 0 ? rest : { ...rest, faults };
    step.state.putNode(left);
    changed.push(left);
  }
  return changed;
}
