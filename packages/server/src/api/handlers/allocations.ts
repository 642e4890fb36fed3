// Submitting, reading, cancelling and updating allocations.

import { create } from "@bufbuild/protobuf";
import {
  type Duration,
  elementOf,
  type PhaseKind,
  parseAllocationId,
  seconds,
  TELEMETRY_MODES,
  type UpdateAllocationCommand,
} from "@lattice/core";
import {
  allocationStateFromProto,
  allocationStateToProto,
  ProblemError,
  pb,
  serviceChangeFromProto,
  telemetryMode,
} from "@lattice/wire";
import { checkText, invalid } from "../../base/problems.ts";
import { authorize, authorizeList, reacher, reaches } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_REASON_LENGTH } from "../limits/limits.ts";
import { filtersOf, waitsFor } from "./allocation-filters.ts";
import { listAllocations } from "./allocation-list.ts";
import { commit, originOf } from "./commit.ts";
import { choiceOf, completeSpec, shapeOf } from "./complete-spec.ts";
import { checkFeasible } from "./feasibility.ts";
import { pageSize, readToken, tokenAfter } from "./page.ts";
import { shownTo, userToList } from "./visible.ts";
import { findWork, listed, ownerOf, severalElements, shown, type Work } from "./work.ts";

export async function submit(call: Call, request: pb.SubmitRequest): Promise<pb.SubmitResponse> {
  const written = request.allocation ?? create(pb.AllocationSpecSchema);
  const spec = completeSpec(call, written);
  const chosen = choiceOf(written, spec);
  const shape = shapeOf(written);
  authorize(call.principal, "AllocationService.Submit", { tenant: spec.tenant, user: call.principal.user });
  // A mistyped name would otherwise go unnoticed.
  const newTenant = call.plane.view().tenant(spec.tenant) === undefined;
  const origin = originOf(call, pb.SubmitRequestSchema, request);
  const createTenant = call.config.api.autoCreateTenants;
  const unmet = checkFeasible(call, spec);
  const submission = { origin, spec, createTenant, ...(request.hold ? { hold: true } : null) };
  const { id, index } = await commit(
    call,
    shape === null ? { kind: "allocation.submit", ...submission } : { kind: "group.submit", ...submission, ...shape },
  );
  // A repeated request gets the current state of the first.
  const record = await findWork(call, id ?? "");
  return create(pb.SubmitResponseSchema, {
    id: record.id,
    state: allocationStateToProto(record.phase.kind),
    warnings: [
      ...call.warnings,
      ...chosen,
      ...unmet,
      ...(newTenant ? [`tenant "${spec.tenant}" did not exist and was created`] : []),
    ],
    logIndex: String(index),
  });
}

export async function get(call: Call, request: pb.GetAllocationRequest): Promise<pb.Allocation> {
  const record = await findWork(call, request.id);
  authorize(call.principal, "AllocationService.Get", ownerOf(record));
  return shown(call, record);
}

export async function list(call: Call, request: pb.ListAllocationsRequest): Promise<pb.ListAllocationsResponse> {
  authorizeList(call.principal, "AllocationService.List");
  const sees = reacher(call.principal, "AllocationService.List");
  const token = readToken(request.pageToken);
  const before = token === null ? null : parseAllocationId(token);
  if (token !== null && before === null) throw invalid("page_token", "is not a token of this list");
  // A watch continues after this index, so it must not be later than the records.
  const { index } = call.plane.view();
  const page = await listAllocations(call.plane, {
    states: new Set(request.state.map(phaseOf)),
    user: userToList(call, "AllocationService.List", request.user),
    tenant: request.tenant,
    vcluster: request.vcluster,
    ...filtersOf(request),
    before,
    expand: request.expand || request.groupId !== "",
    size: pageSize(request.pageSize),
    cacheKey: JSON.stringify([call.principal, request.reasonCode]),
    visible: (record) => sees(ownerOf(record)) && waitsFor(call, record, request.reasonCode),
  });
  return create(pb.ListAllocationsResponseSchema, {
    allocations: page.shown.map((record) => listed(call, record, index)),
    nextPageToken: page.nextBefore === null ? "" : tokenAfter(page.nextBefore),
    total: page.total,
    logIndex: String(index),
  });
}

export async function cancel(call: Call, request: pb.CancelRequest): Promise<pb.CancelResponse> {
  const several = severalElements(request.id);
  const record = await findWork(call, several?.group ?? request.id);
  authorize(call.principal, "AllocationService.Cancel", ownerOf(record));
  checkText("reason", request.reason, MAX_REASON_LENGTH);
  refuseArchived(call, record);
  const { index } = await commit(call, {
    kind: "allocation.cancel",
    origin: originOf(call, pb.CancelRequestSchema, request),
    id: record.id,
    reason: request.reason,
    ...(several === null ? {} : { elements: several.elements }),
  });
  const now = await findWork(call, record.id);
  return create(pb.CancelResponseSchema, {
    id: several === null ? record.id : request.id,
    state: allocationStateToProto(now.phase.kind),
    logIndex: String(index),
  });
}

export async function update(call: Call, request: pb.UpdateAllocationRequest): Promise<pb.UpdateAllocationResponse> {
  const change = changeOf(request);
  if (request.hold !== undefined) {
    if (Object.keys(change).length > 0) throw invalid("hold", "is changed by itself", "Send the rest by itself.");
    return holdOrRelease(call, request, request.hold);
  }
  const record = await findWork(call, request.id);
  authorize(call.principal, "AllocationService.Update", ownerOf(record));
  refuseArchived(call, record);
  const known =
    "walltime_seconds, preemption_class, name, tags, set_tags, remove_tags, telemetry_mode, service or hold";
  if (Object.keys(change).length === 0) throw invalid("body", "changes nothing", `Name ${known}.`);
  if (change.walltime !== undefined) await refuseDelay(call, record, change.walltime);
  const { index } = await commit(call, {
    kind: "allocation.update",
    origin: originOf(call, pb.UpdateAllocationRequestSchema, request),
    id: record.id,
    change,
  });
  const view = call.plane.view();
  const now = view.allocation(record.id) ?? view.group(record.id) ?? record;
  return create(pb.UpdateAllocationResponseSchema, { allocation: await shown(call, now), logIndex: String(index) });
}

function changeOf(request: pb.UpdateAllocationRequest): UpdateAllocationCommand["change"] {
  return {
    ...(request.walltimeSeconds === undefined ? {} : { walltime: seconds(request.walltimeSeconds) }),
    ...(request.preemptionClass === undefined ? {} : { preemptionClass: request.preemptionClass }),
    ...(request.name === undefined ? {} : { name: request.name }),
    ...tagChange(request),
    ...telemetryChange(request),
    ...(request.service === undefined ? {} : { service: serviceChangeFromProto(request.service) }),
  };
}

/** Holds or releases one allocation or several elements. */
async function holdOrRelease(
  call: Call,
  request: pb.UpdateAllocationRequest,
  held: boolean,
): Promise<pb.UpdateAllocationResponse> {
  const several = severalElements(request.id);
  const record = await findWork(call, several?.group ?? request.id);
  const owner = ownerOf(record);
  authorize(call.principal, "AllocationService.Update", owner);
  refuseArchived(call, record);
  const { index } = await commit(call, {
    kind: "allocation.hold",
    origin: originOf(call, pb.UpdateAllocationRequestSchema, request),
    id: record.id,
    held,
    admin: reaches(call.principal, "AllocationService.Update", { ...owner, user: null }),
    ...(several === null ? {} : { elements: several.elements }),
  });
  const now = await findWork(call, record.id);
  return create(pb.UpdateAllocationResponseSchema, { allocation: await shown(call, now), logIndex: String(index) });
}

function tagChange({ tags, setTags, removeTags }: pb.UpdateAllocationRequest): UpdateAllocationCommand["change"] {
  const all = Object.keys(tags).length > 0;
  const some = Object.keys(setTags).length > 0;
  if (all && (some || removeTags.length > 0)) {
    throw invalid("tags", "names all tags, and set_tags or remove_tags name some", "Send one or the other.");
  }
  const twice = removeTags.find((name) => Object.hasOwn(setTags, name));
  if (twice !== undefined) throw invalid("remove_tags", `names "${twice}", which set_tags sets`);
  return {
    ...(all ? { tags } : {}),
    ...(some ? { setTags } : {}),
    ...(removeTags.length > 0 ? { removeTags } : {}),
  };
}

function telemetryChange(request: pb.UpdateAllocationRequest): Pick<UpdateAllocationCommand["change"], "telemetry"> {
  const { telemetryMode: written, telemetrySeconds } = request;
  if (written === undefined) {
    if (telemetrySeconds === 0) return {};
    throw invalid("telemetry_seconds", "is given without telemetry_mode");
  }
  const mode = telemetryMode(written);
  if (mode === null) throw invalid("telemetry_mode", `must be one of ${TELEMETRY_MODES.join(", ")}`);
  return { telemetry: { mode, lasts: telemetrySeconds === 0 ? null : seconds(telemetrySeconds) } };
}

/** Archived work is final, and `apply` no longer has its record. */
function refuseArchived(call: Call, record: Work): void {
  const view = call.plane.view();
  if (view.allocation(record.id) !== undefined || view.group(elementOf(record.id)?.group ?? record.id) !== undefined)
    return;
  throw new ProblemError("illegal_transition", {
    detail: `allocation ${record.id} is already ${record.phase.kind}`,
  });
}

function phaseOf(state: pb.AllocationState): PhaseKind {
  const phase = allocationStateFromProto(state);
  if (phase === null) throw invalid("state", `${state} is not a state`);
  return phase;
}

// administrators of the tenant or the cluster may delay reservations.

/** Throws ProblemError `conflict`. */
async function refuseDelay(call: Call, work: Work, walltime: Duration): Promise<void> {
  const administers = reaches(call.principal, "AllocationService.Update", { tenant: work.spec.tenant, user: null });
  if (administers) return;
  // Without a leader nothing can be written either, so the missing answer does no harm.
  const delayed = await call.plane.askScheduler({ kind: "extension", id: work.id, walltime }).catch(() => null);
  if (delayed === null) return;
  const { allocationId } = shownTo(call, delayed.allocation);
  const holder = allocationId === "" ? "another allocation" : `allocation ${allocationId}`;
  throw new ProblemError("conflict", {
    detail: `walltime_seconds: would delay the reservation of ${holder} on these nodes at ${new Date(delayed.startsAt).toISOString()}`,
    hint: "Request less, save a checkpoint and submit the rest again, or ask an administrator of the tenant.",
  });
}
