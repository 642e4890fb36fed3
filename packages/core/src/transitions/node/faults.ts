// The failures recorded against a node, for the quarantine rule to judge: failures that are the node's own, and quick
// ones. Work that completes, or fails later, clears the node; work that failed to start on several nodes counts against
// none of them. What is quick is a setting of the rule, so a failure is kept with its duration.

import { type AllocationId, type Duration, duration, type Instant, type NodeId } from "../../base/ids.ts";
import type { PlacedPhase } from "../../model/allocation/phase.ts";
import type { AttemptReport } from "../../model/allocation/report.ts";
import type { Fault, Node } from "../../model/node/node.ts";
import type { Step } from "../step.ts";

/** The longest failure that any setting of the rule treats as quick. */
export const MAX_QUICK_FAILURE: Duration = duration(3_600_000);
/** Faults kept per node; the rule can require at most as many. */
export const MAX_FAULTS = 8;
const OF_THE_NODE: readonly string[] = ["launch_failed", "prologue_failed", "lost"];

export function recordFault(step: Step, report: AttemptReport, phase: Pick<PlacedPhase, "placedAt">): void {
  if (report.state !== "completed" && report.state !== "failed") return;
  const node = step.state.node(report.node);
  const fault = report.state === "failed" ? faultOf(step, report, phase.placedAt) : null;
  if (node === undefined || (fault === null && node.faults === undefined)) return;
  const { faults = [], ...cleared } = node;
  if (fault === null) step.state.putNode(cleared);
  else step.state.putNode({ ...node, faults: [...faults, fault].slice(-MAX_FAULTS) });
}

function faultOf(step: Step, { allocation, reason, mayBeWork }: AttemptReport, placedAt: Instant): Fault | null {
  const user = step.state.allocation(allocation)?.user;
  if (user === undefined) return null;
  if (OF_THE_NODE.includes(reason ?? "")) return { allocation, user, own: mayBeWork !== true };
  const after = duration(Math.max(0, step.at - placedAt));
  const quick = (reason === "exit_code" || reason === "signal") && after < MAX_QUICK_FAILURE;
  return quick ? { allocation, user, own: false, after } : null;
}

/** Clears faults of work that failed to start on several nodes: the work is at fault. Returns the affected nodes. */
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
