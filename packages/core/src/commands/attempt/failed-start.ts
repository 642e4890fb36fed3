// An attempt failed to start on a node: its image, mounts or user were missing there, or the launch failed. This
// proves no fault of the work, so the allocation is placed elsewhere, whatever its requeue policy and without counting
// as a requeue; the node is excluded for this allocation only. The allocation fails after a bounded number of failed
// starts, or when too few eligible nodes are left. Failed starts on several nodes count against none of the nodes.
// Sensitive work fails at once, because it never restarts without an operator.

import type { Allocation } from "../../model/allocation/allocation.ts";
import type { PlacedPhase } from "../../model/allocation/phase.ts";
import { placementConstraints } from "../../model/allocation/placement-constraints.ts";
import type { AttemptReport } from "../../model/allocation/report.ts";
import { fits } from "../../model/node/shortfalls.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { isSensitive } from "../../queries/sensitive.ts";
import { moveAllocation } from "../../transitions/allocation/move.ts";
import { fail } from "../../transitions/attempt/failure.ts";
import { releaseNodes } from "../../transitions/claims/release-nodes.ts";
import { withdrawFaults } from "../../transitions/node/faults.ts";
import { endUnjustQuarantines } from "../../transitions/node/quarantine.ts";
import { raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

/** Default number of retries. */
export const MAX_PROLOGUE_RETRIES = 3;

type Unbegun = Pick<AttemptReport, "node" | "message" | "reason" | "prologueRetries" | "quarantineRule">;

interface Retries {
  readonly tried: number;
  readonly most: number;
}

export function retryElsewhere(step: Step, record: Allocation, phase: PlacedPhase, report: Unbegun): void {
  const { node, message, prologueRetries = MAX_PROLOGUE_RETRIES } = report;
  const reason = report.reason === "launch_failed" ? "launch_failed" : "prologue_failed";
  const before = record.excludedNodes;
  const excludedNodes = before.includes(node) ? before : [...before, node];
  const most = isSensitive(step.state, record.spec.vcluster) ? 0 : prologueRetries;
  const over = whyOver(step, { ...record, excludedNodes }, phase, { tried: before.length, most });
  if (over !== null) {
    const explanation = `node ${node}: ${message}${over === "" ? "" : ` (${over})`}`;
    fail(step, record, phase, { reason, exitCode: null, message: explanation, lostNode: null });
    if (before.length > 0)
      endUnjustQuarantines(step, withdrawFaults(step, record.id, excludedNodes), report.quarantineRule);
    if (reason === "prologue_failed") raiseUserNotice(step, record, explanation);
    return;
  }
  releaseNodes(step, record, phase, { lostNode: null, reason });
  const pending = { kind: "pending", since: step.at, cause: reason } as const;
  const failure = { reason, exitCode: null, message: `node ${node}: ${message}`.slice(0, 256) } as const;
  moveAllocation(step, record, pending, { excludedNodes, pendingSinceIndex: step.index }, failure);
}

const raiseUserNotice = (step: Step, record: Allocation, explanation: string): boolean =>
  raiseNotice(step, {
    key: noticeKey("prologue_failed", record.id),
    kind: "prologue_failed",
    text: `allocation ${record.id} has failed because no node could be prepared for it; ${explanation}`.slice(
      0,
      MAX_NOTICE_LENGTH,
    ),
    tenant: record.spec.tenant,
    user: record.user,
    allocation: record.id,
  });

/** Returns `null` when the allocation is tried again, and the reason otherwise. */
function whyOver(step: Step, record: Allocation, phase: PlacedPhase, { tried, most }: Retries): string | null {
  if (tried >= most) return `tried on ${tried + 1} ${tried === 0 ? "node" : "nodes"}`;
  const { requeuePolicy } = record.spec.lifecycle;
  // The work may already run on another node, and must not run twice.
  const started = phase.progress.some(({ state }) => state === "running" || state === "completed");
  if (started && requeuePolicy === "never") return "it had started on other nodes";
  const { minNodes, constraints } = record.spec.resources;
  if (constraints.requiredNodes.some((id) => record.excludedNodes.includes(id))) return "the node is required";
  const wanted = placementConstraints(record);
  let left = 0;
  for (const other of step.state.nodes()) {
    const serves = other.homeVCluster === null || other.homeVCluster === record.spec.vcluster;
    if (serves && fits(wanted, other.id, other.capabilities)) left += 1;
    if (left >= minNodes) return null;
  }
  return "no other node could run it";
}
