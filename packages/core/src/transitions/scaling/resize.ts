// A running service gets one more node, or releases one. Everything is checked again against the current state: the node
// must be free and fit, the tenant's quota and the service's own bounds must hold, and the decision must be based on the
// current size. Its minimum of nodes is never borrowed. A released node leaves the registry at once, and its processes
// get their grace period.

import type { NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { hasEnded } from "../../model/allocation/attempt-end.ts";
import { attemptAt } from "../../model/allocation/node-attempts.ts";
import type { RunningPhase } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { allocationChanged } from "../allocation/move.ts";
import { markReleasing, releaseClaim } from "../claims/claims.ts";
import { forgetAttempt } from "../claims/release-nodes.ts";
import { chargeAttempt } from "../ledger/charge.ts";
import { raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";

/** Changes of direction in a row after which the user gets a notice that the target does not suit the service. */
const MAX_TURNS = 5;

type ScaleReason = "metric" | "minimum" | "maximum" | "renewal" | "node_failure" | "reclaim";

/** One node added to a running service, or removed from it. */
export interface Resize {
  readonly change: "add" | "remove";
  readonly node: NodeId;
  readonly reason: ScaleReason;
  /** One sentence for the record. */
  readonly detail: string;
}

/** Removes one node of several: released, lost, or reclaimed by the vCluster that lent it. */
export function removeNode(
  step: Step,
  record: Allocation,
  phase: RunningPhase,
  { node, reason, detail, isLost = false }: Omit<Resize, "change"> & { readonly isLost?: boolean },
): void {
  const at = phase.nodes.indexOf(node);
  const ref = { allocation: record.id, attempt: attemptAt(record, phase, at) };
  if (isLost) releaseClaim(step, node, ref);
  else if (hasEnded(phase.progress[at])) forgetAttempt(step, node, ref);
  else markReleasing(step, node, ref, { reason: "scaled down" });
  const attempts = phase.nodes.map((_, i) => attemptAt(record, phase, i));
  const without = <T>(items: readonly T[]): readonly T[] => items.filter((_, i) => i !== at);
  const left: RunningPhase = {
    ...phase,
    nodes: without(phase.nodes),
    progress: without(phase.progress),
    attempts: without(attempts),
  };
  recordResize(step, record, left, { change: "remove", node, reason, detail }, record);
}

/** Charges the use so far; from here on the new set of nodes counts. */
export function recordResize(
  step: Step,
  record: Allocation,
  phase: RunningPhase,
  { change, node, reason, detail }: Resize,
  before: Allocation,
): void {
  const charged = chargeAttempt(step.state, before, step.at);
  const by = reason === "metric";
  const direction = change === "add" ? "up" : "down";
  const last = record.scaling;
  const turns = last === undefined || last.direction === direction ? 0 : last.turns + 1;
  const kind = change === "add" ? "scaled_up" : "scaled_down";
  const size = phase.nodes.length === 1 ? "1 node" : `${phase.nodes.length} nodes`;
  const text = `${change === "add" ? `Node ${node} was added` : `Node ${node} was released`}; now ${size} (${detail}).`;
  const type = reason === "node_failure" ? "failure" : reason === "reclaim" ? "preemption" : "scaling";
  const moved: Allocation = {
    ...record,
    charged,
    phase: { ...phase, countedFrom: step.at },
    ...(by ? { scaling: { at: step.at, direction, turns } as const } : {}),
  };
  const noted = withNote(moved, { type, kind, text, nodes: [node] }, step);
  step.state.putAllocation(noted);
  step.events.push({ ...allocationChanged(noted, "running"), node, reason: kind, message: detail });
  if (by && turns > MAX_TURNS) tellOscillation(step, noted, turns);
}

function tellOscillation(step: Step, { id, spec, user }: Allocation, turns: number): void {
  const advice = "adjust its target or its cooldown";
  raiseNotice(step, {
    key: noticeKey("scaling_oscillates", id),
    kind: "scaling_oscillates",
    text: `service ${id} has grown and shrunk ${turns} times in turn: ${advice}`.slice(0, MAX_NOTICE_LENGTH),
    tenant: spec.tenant,
    user,
    allocation: id,
  });
}

export const mostNodes = ({ spec }: Pick<Allocation, "spec">): number =>
  spec.lifecycle.scale?.maxNodes ?? spec.resources.maxNodes;
