// Access to the content of work: output, metrics, tasks and terminals. For sensitive work every access is in the audit
// log before it is answered, and every refusal is recorded as well.

import { type Allocation, isSensitive, type View } from "@lattice/core";
import { authorize, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import type { RpcName } from "../call/rpc.ts";
import { recordAudit } from "./audit.ts";
import { RefusalCounts } from "./refusal-counts.ts";
import { ownerOf } from "./work.ts";

/** The audited RPCs with their audit action. Input to a task is covered by its launch. */
const AUDITED: Readonly<Partial<Record<RpcName, string>>> = {
  "AllocationService.GetLogs": "logs.read",
  "AllocationService.StreamLogs": "logs.read",
  "AllocationService.QueryMetrics": "metrics.read",
  "AllocationService.StreamMetrics": "metrics.read",
  "AllocationService.CompareMetrics": "metrics.read",
  "AllocationService.GetDiagnostics": "diagnostics.read",
  "TaskService.LaunchTasks": "tasks.launch",
};

/** Throws ProblemError `forbidden`. */
export async function authorizeContent(call: Call, rpc: RpcName, record: Allocation): Promise<void> {
  const target = contentOf(call.plane.view(), record);
  if (!reaches(call.principal, rpc, target)) writeRefusal(call, rpc, record);
  authorize(call.principal, rpc, target);
  const action = AUDITED[rpc];
  if (target.sensitive === true && action !== undefined) await recordAudit(call, action, auditDetails(record, rpc));
}

/**
 * Records refusals for sensitive work only. The refusal does not wait for the record. Repetitions within a minute are
 * counted, so that a loop of calls cannot fill the log.
 */
export function writeRefusal(call: Call, rpc: RpcName, record: Allocation): void {
  if (!isSensitiveWork(call.plane.view(), record)) return;
  const write = (detail: string) =>
    void recordAudit(call, "sensitive.refused", auditDetails(record, detail)).catch(() => null);
  refusalsOf(call.plane).refuse({ user: call.principal.user, subject: record.id, action: rpc }, write);
}

const refusals = new WeakMap<object, RefusalCounts>();

function refusalsOf(plane: object): RefusalCounts {
  const known = refusals.get(plane) ?? new RefusalCounts();
  refusals.set(plane, known);
  return known;
}

const auditDetails = ({ id, spec }: Allocation, detail: string) => ({
  scope: "sensitive" as const,
  allocation: id,
  tenant: spec.tenant,
  detail,
});

export const contentOf = (view: View, record: Allocation): Target => ({
  ...ownerOf(record),
  sensitive: isSensitiveWork(view, record),
});

/** By its vCluster, or by its network if the vCluster has changed since. */
export const isSensitiveWork = (view: View, { spec, network }: Allocation): boolean =>
  isSensitive(view, spec.vcluster) || network?.sensitive === true;
