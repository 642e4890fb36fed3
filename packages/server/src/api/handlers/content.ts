// The way to what work says, measures and does: its output, its figures, tasks and terminals inside it. Of sensitive work every look
// is in the audit log before it is answered, and every one that is refused comes there too.

import { type Allocation, isSensitive, type View } from "@lattice/core";
import { authorize, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import type { RpcName } from "../rpc.ts";
import { writeDown } from "./audit.ts";
import { ownerOf } from "./work.ts";

/** As the audit log calls them. What is typed into a task goes with its launch. */
const LOOKS: Readonly<Partial<Record<RpcName, string>>> = {
  "AllocationService.GetLogs": "logs.read",
  "AllocationService.StreamLogs": "logs.read",
  "AllocationService.QueryMetrics": "metrics.read",
  "AllocationService.StreamMetrics": "metrics.read",
  "AllocationService.CompareMetrics": "metrics.read",
  "AllocationService.GetDiagnostics": "diagnostics.read",
  "TaskService.LaunchTasks": "tasks.launch",
};

/** Throws ProblemError `forbidden`. */
export async function enterContent(call: Call, rpc: RpcName, record: Allocation): Promise<void> {
  const target = contentOf(call.plane.view(), record);
  if (!reaches(call.principal, rpc, target)) writeRefusal(call, rpc, record);
  authorize(call.principal, rpc, target);
  const look = LOOKS[rpc];
  if (target.sensitive === true && look !== undefined) await writeDown(call, look, deedOn(record, rpc));
}

/** Of what is not sensitive nothing is written. The refusal does not wait for it, nor depend on it. */
export function writeRefusal(call: Call, rpc: RpcName, record: Allocation): void {
  if (!isSensitiveWork(call.plane.view(), record)) return;
  writeDown(call, "sensitive.refused", deedOn(record, rpc)).catch(() => null);
}

const deedOn = ({ id, spec }: Allocation, detail: string) => ({
  scope: "sensitive" as const,
  allocation: id,
  tenant: spec.tenant,
  detail,
});

export const contentOf = (view: View, record: Allocation): Target => ({
  ...ownerOf(record),
  sensitive: isSensitiveWork(view, record),
});

/** By its vCluster, or by its network where the vCluster is no longer what it was. */
export const isSensitiveWork = (view: View, { spec, network }: Allocation): boolean =>
  isSensitive(view, spec.vcluster) || network?.sensitive === true;
