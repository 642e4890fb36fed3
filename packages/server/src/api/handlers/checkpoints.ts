// Requests checkpoints, shows them, and resumes allocations that were suspended at their walltime.

import { create } from "@bufbuild/protobuf";
import type { Allocation } from "@lattice/core";
import { checkpointStatus, ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";
import { find, findWork, isGroup, ownerOf, type Work } from "./work.ts";

export async function requestCheckpoint(call: Call, request: pb.CheckpointRequest): Promise<pb.CheckpointStatus> {
  const record = await findWork(call, request.id);
  authorize(call.principal, "AllocationService.RequestCheckpoint", ownerOf(record));
  await Promise.all(runningIn(call, record).map((each) => refuseWithoutStorage(call, each)));
  await commit(call, {
    kind: "allocation.checkpoint",
    origin: originOf(call, pb.CheckpointRequestSchema, request),
    id: record.id,
  });
  if (isGroup(record)) return create(pb.CheckpointStatusSchema, { id: record.id, mode: modeOf(record) });
  return statusOf(call, call.plane.view().allocation(record.id) ?? record);
}

/** Returns the allocation itself, or the placed elements of a group. */
function runningIn(call: Call, work: Work): readonly Allocation[] {
  if (!isGroup(work)) return [work];
  return Array.from(call.plane.view().placed()).filter(({ element }) => element?.group === work.id);
}

const modeOf = ({ spec }: Work): string => spec.checkpoint?.mode ?? "none";

/** Avoids interrupting a program for a checkpoint that cannot be written. */
export async function refuseWithoutStorage(call: Call, { id, spec }: Allocation): Promise<void> {
  if (spec.checkpoint === undefined) return;
  const { storageError } = await call.plane.askScheduler({ kind: "checkpoint", id });
  if (storageError === "") return;
  const detail = `Checkpoints of allocation ${id} cannot be written: ${storageError}.`;
  throw new ProblemError("checkpoint_storage_unavailable", { detail });
}

export async function getCheckpoint(call: Call, request: pb.GetCheckpointRequest): Promise<pb.CheckpointStatus> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.GetCheckpoint", ownerOf(record));
  const status = statusOf(call, record);
  const { judgement, progress } = await call.plane.askScheduler({ kind: "checkpoint", id: record.id });
  if (status.current !== undefined && progress !== null) {
    if (progress.percent !== null) status.current.percent = progress.percent;
    if (progress.estimatedSeconds !== null) status.current.estimatedSeconds = progress.estimatedSeconds;
    status.current.deferredSeconds = progress.deferredSeconds;
  }
  if (judgement !== null) {
    const { judgedAt, ...figures } = judgement;
    status.decision = create(pb.CheckpointDecisionSchema, { ...figures, evaluatedAt: timestampFromMs(judgedAt) });
  }
  return status;
}

export async function resume(call: Call, request: pb.ResumeRequest): Promise<pb.ResumeResponse> {
  const record = await findWork(call, request.id);
  authorize(call.principal, "AllocationService.Resume", ownerOf(record));
  const { index } = await commit(call, {
    kind: "allocation.resume",
    origin: originOf(call, pb.ResumeRequestSchema, request),
    id: record.id,
  });
  return create(pb.ResumeResponseSchema, { id: record.id, logIndex: String(index) });
}

function statusOf(call: Call, record: Allocation): pb.CheckpointStatus {
  const status = checkpointStatus(record) ?? create(pb.CheckpointStatusSchema);
  status.id = record.id;
  status.mode = modeOf(record);
  status.logIndex = String(call.plane.view().index);
  return status;
}
