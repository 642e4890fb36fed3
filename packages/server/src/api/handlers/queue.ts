// The queue of a vCluster in scheduling order. Other users' work is listed without its owner unless the caller may see
// it.

import { create } from "@bufbuild/protobuf";
import { parseVClusterId } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { invalid, unknownVCluster } from "../../base/problems.ts";
import type { QueueEntry } from "../../lead/insight/question.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { pageSize, readToken, tokenAfter } from "./page.ts";
import { isKnown, shownTo } from "./visible.ts";

export async function getQueue(call: Call, request: pb.GetQueueRequest): Promise<pb.Queue> {
  authorize(call.principal, "AdminService.GetQueue", UNOWNED);
  const vcluster = parseVClusterId(request.id);
  if (vcluster === null || call.plane.view().vcluster(vcluster) === undefined) throw unknownVCluster(request.id);
  const token = readToken(request.pageToken) ?? "0";
  if (!/^\d{1,9}$/.test(token)) throw invalid("page_token", "is not a token of this list");
  const from = Number(token);
  const limit = pageSize(request.pageSize);
  const page = await call.plane.askScheduler({ kind: "queue", vcluster, from, limit });
  if (page === null) throw unknownVCluster(request.id);
  return create(pb.QueueSchema, {
    vcluster,
    entries: page.waiting.flatMap((waiting, i) => entryOf(call, waiting, from + i + 1)),
    nextPageToken: from + limit < page.total ? tokenAfter(String(from + limit)) : "",
    total: page.total,
    ...(page.asOf === null ? {} : { evaluatedAt: timestampFromMs(page.asOf) }),
    logIndex: String(call.plane.view().index),
  });
}

/** Returns no entry for an allocation that has left the state of this server in the meantime. */
function entryOf(call: Call, waiting: QueueEntry, position: number): pb.QueueEntry[] {
  const record = call.plane.view().allocation(waiting.id);
  if (record === undefined) return [];
  const { spec } = record;
  const known = isKnown(call, record);
  const { walltime, preemptionClass } = spec.lifecycle;
  return [
    create(pb.QueueEntrySchema, {
      position,
      ...shownTo(call, record.id),
      name: known ? spec.name : "",
      minNodes: spec.resources.minNodes,
      maxNodes: spec.resources.maxNodes,
      walltimeSeconds: walltime === null ? 0 : Math.ceil(walltime / 1000),
      preemptionClass,
      submittedAt: timestampFromMs(record.submittedAt),
      ...(waiting.expected === null ? {} : { estimatedStart: timestampFromMs(waiting.expected) }),
      reserved: waiting.reserved,
      ...(waiting.scoreMilli === null ? {} : { score: waiting.scoreMilli }),
      reasons: known ? waiting.reasons.map(({ text }) => text) : [],
      reasonCodes: waiting.reasons.map(({ code }) => code),
    }),
  ];
}
