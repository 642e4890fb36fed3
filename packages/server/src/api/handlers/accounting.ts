// Resource usage of finished allocations, newest first, including the history. Hours cover all attempts: the last one by
// its nodes, earlier ones by their records. GPUs count only on nodes that are still registered. Budgets use the ledger
// instead, which is charged when the work ends.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type FinalPhase,
  isFinal,
  MS_PER_HOUR,
  type NodeId,
  type PhaseKind,
  parseAllocationId,
  type View,
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
  const view = call.plane.view();
  return create(pb.AccountingSchema, {
    records: page.shown.flatMap((work) => recordOf(view, work)),
    nextPageToken: page.nextBefore === null ? "" : tokenAfter(page.nextBefore),
    logIndex: String(view.index),
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

function recordOf(view: View, work: Work): pb.AccountingRecord[] {
  if (isGroup(work) || !isFinal(work.phase)) return [];
  const { spec, phase } = work;
  const { startedAt, endedAt, nodes } = phase;
  const elapsed = startedAt === null ? 0 : endedAt - startedAt;
  const used = usedBy(view, work, phase);
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
      attempts: used.attempts,
      elapsedSeconds: elapsed / 1000,
      waitedSeconds: ((startedAt ?? endedAt) - work.submittedAt) / 1000,
      nodeHours: used.nodeMs / MS_PER_HOUR,
      gpuHours: used.gpuMs / MS_PER_HOUR,
      ...(walltime === null ? {} : { walltimeUsed: elapsed / walltime }),
      tags: spec.tags,
      usage: attemptUsagesToProto(work),
    }),
  ];
}

interface Used {
  attempts: number;
  nodeMs: number;
  gpuMs: number;
}

function usedBy(view: View, work: Allocation, { startedAt, endedAt, nodes }: FinalPhase): Used {
  const gpusOn = (list: readonly NodeId[]): number =>
    list.reduce((sum, node) => sum + (view.node(node)?.capabilities.gpuCount ?? 0), 0);
  const used: Used = { attempts: 0, nodeMs: 0, gpuMs: 0 };
  const add = (ms: number, count: number, gpus: number): void => {
    used.attempts += 1;
    used.nodeMs += ms * count;
    used.gpuMs += ms * gpus;
  };
  if (startedAt !== null) add(endedAt - startedAt, nodes.length, gpusOn(nodes));
  for (const past of work.past?.attempts ?? []) {
    // The record keeps only the first nodes of an attempt; the others count with their average.
    const gpus = past.nodes.length === 0 ? 0 : (gpusOn(past.nodes) / past.nodes.length) * past.nodeCount;
    if (past.startedAt !== null) add(past.endedAt - past.startedAt, past.nodeCount, gpus);
  }
  return used;
}
