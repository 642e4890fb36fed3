// Submitting, reading, cancelling and updating allocations.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationSpec,
  checkSpec,
  type PhaseKind,
  parseAllocationId,
  seconds,
  type TenantId,
  type UpdateAllocationCommand,
  type VClusterId,
  type View,
} from "@lattice/core";
import {
  allocationStateFromProto,
  allocationStateToProto,
  allocationToProto,
  fieldError,
  ProblemError,
  pb,
  specFromProto,
} from "@lattice/wire";
import { authorize, authorizeList, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { MAX_REASON_LENGTH } from "../limits/limits.ts";
import { listAllocations } from "./allocation-list.ts";
import { commit, originOf } from "./commit.ts";
import { pageSize, readToken, tokenAfter } from "./page.ts";
import { checkText, invalid, unknownAllocation } from "./refuse.ts";

const DEFAULT_TENANT = "default" as TenantId;

export async function submit(call: Call, request: pb.SubmitRequest): Promise<pb.SubmitResponse> {
  const spec = completeSpec(call, request.allocation ?? create(pb.AllocationSpecSchema));
  authorize(call.principal, "AllocationService.Submit", { tenant: spec.tenant, user: call.principal.user });
  // A mistyped name would otherwise go unnoticed.
  const newTenant = call.plane.view().tenant(spec.tenant) === undefined;
  const { id, index } = await commit(call, {
    kind: "allocation.submit",
    origin: originOf(call, pb.SubmitRequestSchema, request),
    spec,
    createTenant: call.config.api.autoCreateTenants,
  });
  // A repeated request answers what has become of the first.
  const record = await find(call, id ?? "");
  return create(pb.SubmitResponseSchema, {
    id: record.id,
    state: allocationStateToProto(record.phase.kind),
    warnings: newTenant
      ? [...call.warnings, `tenant "${spec.tenant}" did not exist and was created`]
      : [...call.warnings],
    logIndex: String(index),
  });
}

export async function get(call: Call, request: pb.GetAllocationRequest): Promise<pb.Allocation> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.Get", ownerOf(record));
  return shown(call, record, true);
}

export async function list(call: Call, request: pb.ListAllocationsRequest): Promise<pb.ListAllocationsResponse> {
  authorizeList(call.principal, "AllocationService.List");
  const token = readToken(request.pageToken);
  const before = token === null ? null : parseAllocationId(token);
  if (token !== null && before === null) throw invalid("page_token", "is not a token of this list");
  const page = await listAllocations(call.plane, {
    states: new Set(request.state.map(phaseOf)),
    user: request.user,
    tenant: request.tenant,
    vcluster: request.vcluster,
    node: request.node,
    name: request.name,
    before,
    size: pageSize(request.pageSize),
    visible: (record) => reaches(call.principal, "AllocationService.List", ownerOf(record)),
  });
  return create(pb.ListAllocationsResponseSchema, {
    allocations: page.shown.map((record) => shown(call, record, false)),
    nextPageToken: page.nextBefore === null ? "" : tokenAfter(page.nextBefore),
    total: page.total,
    logIndex: String(call.plane.view().index),
  });
}

export async function cancel(call: Call, request: pb.CancelRequest): Promise<pb.CancelResponse> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.Cancel", ownerOf(record));
  checkText("reason", request.reason, MAX_REASON_LENGTH);
  refuseArchived(call, record);
  const { index } = await commit(call, {
    kind: "allocation.cancel",
    origin: originOf(call, pb.CancelRequestSchema, request),
    id: record.id,
    reason: request.reason,
  });
  const now = call.plane.view().allocation(record.id) ?? record;
  return create(pb.CancelResponseSchema, {
    id: record.id,
    state: allocationStateToProto(now.phase.kind),
    logIndex: String(index),
  });
}

export async function update(call: Call, request: pb.UpdateAllocationRequest): Promise<pb.UpdateAllocationResponse> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.Update", ownerOf(record));
  refuseArchived(call, record);
  const change: UpdateAllocationCommand["change"] = {
    ...(request.walltimeSeconds === undefined ? {} : { walltime: seconds(request.walltimeSeconds) }),
    ...(request.preemptionClass === undefined ? {} : { preemptionClass: request.preemptionClass }),
    ...(request.name === undefined ? {} : { name: request.name }),
    ...(Object.keys(request.tags).length === 0 ? {} : { tags: request.tags }),
  };
  if (Object.keys(change).length === 0)
    throw invalid("body", "changes nothing", "Name walltime_seconds, preemption_class, name or tags.");
  const { index } = await commit(call, {
    kind: "allocation.update",
    origin: originOf(call, pb.UpdateAllocationRequestSchema, request),
    id: record.id,
    change,
  });
  const now = call.plane.view().allocation(record.id) ?? record;
  return create(pb.UpdateAllocationResponseSchema, { allocation: shown(call, now, true), logIndex: String(index) });
}

/** With what the caller left out, also of a session; throws when it is not acceptable by itself. */
export function completeSpec(call: Call, written: pb.AllocationSpec): AllocationSpec {
  const view = call.plane.view();
  const stated = specFromProto(written, {
    tenant: call.principal.tenant ?? DEFAULT_TENANT,
    vcluster: defaultVCluster(view),
    defaultWalltimeMs: (vcluster) => view.vcluster(vcluster as VClusterId)?.defaultWalltime ?? null,
  });
  const spec = { ...stated, slurmEnv: stated.slurmEnv || call.config.compat.setSlurmEnv };
  const problems = checkSpec(spec);
  if (problems.length > 0) throw fieldError(problems);
  return spec;
}

/** Empty when the cluster has none: the field is then missing. */
function defaultVCluster(view: View): string {
  for (const vcluster of view.vclusters()) if (vcluster.isDefault) return vcluster.id;
  return "";
}

/** What has left the live state is over for good, and `apply` no longer knows it. */
function refuseArchived(call: Call, record: Allocation): void {
  if (call.plane.view().allocation(record.id) !== undefined) return;
  throw new ProblemError("illegal_transition", {
    detail: `allocation ${record.id} is already ${record.phase.kind}`,
  });
}

/** In the live state, else in the archive; throws `unknown_allocation`. */
export async function find(call: Call, id: string): Promise<Allocation> {
  const parsed = parseAllocationId(id);
  if (parsed === null) throw unknownAllocation(id);
  const record = call.plane.view().allocation(parsed) ?? (await call.plane.archived(parsed));
  if (record === null) throw unknownAllocation(id);
  return record;
}

export const ownerOf = (record: Allocation): Target => ({ tenant: record.spec.tenant, user: record.user });

/** Reasons are shown for one allocation, not in lists: each may take a look at the whole queue. */
function shown(call: Call, record: Allocation, lookAgain: boolean): pb.Allocation {
  const waiting = record.phase.kind === "pending";
  const reasonsOf = lookAgain ? call.plane.pendingReasons : call.plane.knownReasons;
  return allocationToProto(record, {
    pendingReasons: waiting ? reasonsOf(record.id).map((reason) => reason.text) : [],
    estimatedStart: waiting ? call.plane.estimatedStart(record.id) : null,
    logIndex: call.plane.view().index,
  });
}

function phaseOf(state: pb.AllocationState): PhaseKind {
  const phase = allocationStateFromProto(state);
  if (phase === null) throw invalid("state", `${state} is not a state`);
  return phase;
}
