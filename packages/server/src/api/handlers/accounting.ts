// Resource usage of finished allocations, newest first, including the history. Hours are the amounts that the ledger was
// charged for all attempts, so that accounting, usage and budgets agree.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type FinalPhase,
  isFinal,
  MS_PER_HOUR,
  type PhaseKind,
  parseAllocationId,
} from "@lattice/core";
import { attemptUsagesToProto, pb, timestampFromMs, timestampToMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import { authorizeList, reacher } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { FINISHED, listAllocations } from "./allocation-list.ts";
import { pageSize, readToken, tokenAfter } from "./page.ts";
import { userToList } from "./visible.ts";
import { isGroup, ownerOf, type Work } from "./work.ts";

export async function getAccounting(call: Call, request: pb.GetAccountingRequest): Promise<pb.Accounting> {
  authorizeList(call.principal, "AdminService.GetAccounting");
  const sees = reacher(call.principal, "AdminService.GetAccounting");
  const token = readToken(request.pageToken);
  const before = token === null ? null : parseAllocationId(token);
  if (token !== null && before === null) throw invalid("page_token", "is not a token of this list");
  const { index } = call.plane.view();
  const page = await listAllocations(call.plane, {
    states: statesOf(request.state),
    user: userToList(call, "AdminService.GetAccounting", request.user),
    tenant: request.tenant,
    vcluster: request.vcluster,
    project: request.project,
    ...(request.since === undefined ? {} : { sinceMs: timestampToMs(request.since) }),
    ...(request.until === undefined ? {} : { untilMs: timestampToMs(request.until) }),
    before,
    // Each element has its own record.
    expand: true,
    size: pageSize(request.pageSize),
    cacheKey: JSON.stringify(call.principal),
    visible: (work) => !isGroup(work) && sees(ownerOf(work)),
  });
  return create(pb.AccountingSchema, {
    records: page.shown.flatMap((work) => recordOf(work)),
    nextPageToken: page.nextBefore === null ? "" : tokenAfter(page.nextBefore),
    logIndex: String(index),
  });
}

function statesOf(words: readonly string[]): ReadonlySet<PhaseKind> {
  const found = words.map((word) => {
    const state = FINISHED.find((kind) => kind === word.toLowerCase());
    if (state === undefined) throw invalid("state", `must be one of ${FINISHED.join(", ")}`);
    return state;
  });
  return new Set(found.length === 0 ? FINISHED : found);
}

function recordOf(work: Work): pb.AccountingRecord[] {
  if (isGroup(work) || !isFinal(work.phase)) return [];
  const { spec, phase } = work;
  const { startedAt, endedAt, nodes } = phase;
  const elapsed = startedAt === null ? 0 : endedAt - startedAt;
  const { walltime } = spec.lifecycle;
  return [
    create(pb.AccountingRecordSchema, {
      allocationId: work.id,
      name: spec.name,
      user: work.user,
      tenant: spec.tenant,
      project: spec.project,
      vcluster: spec.vcluster,
      state: phase.kind,
      reason: "reason" in phase ? phase.reason : "",
      ...(phase.exitCode === null ? {} : { exitCode: phase.exitCode }),
      submittedAt: timestampFromMs(work.submittedAt),
      ...(startedAt === null ? {} : { startedAt: timestampFromMs(startedAt) }),
      endedAt: timestampFromMs(endedAt),
      nodes: nodes.length,
      attempts: attemptsOf(work, phase),
      elapsedSeconds: elapsed / 1000,
      waitedSeconds: ((startedAt ?? endedAt) - work.submittedAt) / 1000,
      nodeHours: work.charged.nodeMs / MS_PER_HOUR,
      gpuHours: work.charged.gpuMs / MS_PER_HOUR,
      ...(walltime === null ? {} : { walltimeUsed: elapsed / walltime }),
      tags: spec.tags,
      usage: attemptUsagesToProto(work),
    }),
  ];
}

const attemptsOf = ({ past }: Allocation, { startedAt }: FinalPhase): number =>
  (past?.attempts.filter((attempt) => attempt.startedAt !== null).length ?? 0) + (startedAt === null ? 0 : 1);
