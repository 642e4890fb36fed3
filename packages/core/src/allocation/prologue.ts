// An attempt could not be begun on a node: its image, its mounts or its user were not to be had there, or nothing
// could be launched. That says nothing about the work, so it is tried elsewhere, whatever its requeue policy and
// without counting as a requeue; the node is set aside for this allocation alone. It ends when that
// has happened often enough, or when too few nodes are left that it could run on; if several nodes could not begin it, that is held
// against none of them. Sensitive work ends at once: nothing of it is done again before somebody has looked.

import type { ReportCommand } from "../command.ts";
import { withdrawFaults } from "../node/faults.ts";
import { absolve } from "../node/set-aside.ts";
import { fits } from "../node/shortfalls.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../notice/notice.ts";
import { notify } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { isSensitive } from "../vcluster/sensitive.ts";
import type { Allocation } from "./allocation.ts";
import { fail } from "./failure.ts";
import { letGo } from "./let-go.ts";
import { moveAllocation } from "./move.ts";
import type { PlacedPhase } from "./phase.ts";
import { placementConstraints } from "./placement-constraints.ts";

/** Tries after the first, unless configured. */
export const MAX_PROLOGUE_RETRIES = 3;

type Unbegun = Pick<ReportCommand, "node" | "message" | "reason" | "prologueRetries" | "setAside">;

interface Retries {
  readonly tried: number;
  readonly most: number;
}

export function notBegun(step: Step, record: Allocation, phase: PlacedPhase, report: Unbegun): void {
  const { node, message, prologueRetries = MAX_PROLOGUE_RETRIES } = report;
  const reason = report.reason === "launch_failed" ? "launch_failed" : "prologue_failed";
  const before = record.setAside ?? [];
  const setAside = before.includes(node) ? before : [...before, node];
  const most = isSensitive(step.state, record.spec.vcluster) ? 0 : prologueRetries;
  const over = whyOver(step, { ...record, setAside }, phase, { tried: before.length, most });
  if (over !== null) {
    const told = `node ${node}: ${message}${over === "" ? "" : ` (${over})`}`;
    fail(step, record, phase, { reason, exitCode: null, message: told, gone: null });
    if (before.length > 0) absolve(step, withdrawFaults(step, record.id, setAside), report.setAside);
    if (reason === "prologue_failed") tellUser(step, record, told);
    return;
  }
  letGo(step, record, phase, { gone: null, reason });
  const pending = { kind: "pending", since: step.at, cause: reason } as const;
  const failure = { reason, exitCode: null, message: `node ${node}: ${message}`.slice(0, 256) } as const;
  moveAllocation(step, record, pending, { setAside, pendingSinceIndex: step.index }, failure);
}

const tellUser = (step: Step, record: Allocation, told: string): boolean =>
  notify(step, {
    key: noticeKey("prologue_failed", record.id),
    kind: "prologue_failed",
    text: `allocation ${record.id} has failed because no node could be made ready for it; ${told}`.slice(
      0,
      MAX_NOTICE_LENGTH,
    ),
    tenant: record.spec.tenant,
    user: record.user,
    allocation: record.id,
  });

/** Null: it is tried again. */
function whyOver(step: Step, record: Allocation, phase: PlacedPhase, { tried, most }: Retries): string | null {
  if (tried >= most) return `tried on ${tried + 1} ${tried === 0 ? "node" : "nodes"}`;
  const { requeuePolicy } = record.spec.lifecycle;
  // On another node the work itself may have begun, and must not begin twice.
  const begun = phase.progress.some(({ state }) => state === "running" || state === "completed");
  if (begun && requeuePolicy === "never") return "it had begun on other nodes";
  const { minNodes, constraints } = record.spec.resources;
  if (constraints.requiredNodes.some((id) => record.setAside?.includes(id))) return "the node is required";
  const wanted = placementConstraints(record);
  let left = 0;
  for (const other of step.state.nodes()) {
    const serves = other.homeVCluster === null || other.homeVCluster === record.spec.vcluster;
    if (serves && fits(wanted, other.id, other.capabilities)) left += 1;
    if (left >= minNodes) return null;
  }
  return "no other node could run it";
}
