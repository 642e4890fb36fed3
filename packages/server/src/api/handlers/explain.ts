// Explains why an allocation waits, with the leader's scheduler, or why it runs on its nodes, from its record.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Allocation, type Hold, holdReason, isFinal, isPlaced, isQueued, waitReasons } from "@lattice/core";
import { durationText, type PendingReason } from "@lattice/scheduler";
import { pb, timestampFromMs } from "@lattice/wire";
import type { ExplainedAllocation } from "../../lead/insight/index.ts";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { suggestionToProto } from "./suggestion.ts";
import { unavailableFeatures } from "./unavailable-features.ts";
import { visibleVictims, withVictims } from "./victims.ts";
import { shownTo } from "./visible.ts";
import { find, ownerOf } from "./work.ts";

export async function explain(call: Call, request: pb.ExplainRequest): Promise<pb.Explanation> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.Explain", ownerOf(record));
  if (record.phase.kind === "pending" && !isQueued(record)) return ofUnmet(call, record);
  const waiting =
    record.phase.kind === "pending" ? await call.plane.askScheduler({ kind: "explain", id: record.id }) : null;
  // It may have started in the meantime.
  if (waiting === null) return ofRecord(call, call.plane.view().allocation(record.id) ?? record);
  const victims = visibleVictims(call, record);
  const causes = [...missingFeatures(call, record), ...withVictims(waiting.explanation.causes, victims)];
  return create(pb.ExplanationSchema, {
    ...headOf(call, record),
    summary: waitingSummary(waiting, causes),
    evaluatedAt: timestampFromMs(waiting.explanation.at),
    causes: causes.map(({ code, text }) => ({ code, text })),
    victims: [...victims],
    startReserved: waiting.explanation.queue.reservation !== null,
    nodes: nodesOf(call, waiting),
    queue: queueOf(call, waiting),
    tenantLimits: [...waiting.explanation.tenant],
    suggestions: waiting.sooner.map(suggestionToProto),
    ...(waiting.expected === null ? {} : { estimatedStart: timestampFromMs(waiting.expected) }),
    ...(waiting.errorMs === null ? {} : { estimateErrorSeconds: waiting.errorMs / 1000 }),
  });
}

/** Explains work that is not queued yet, so that the scheduler has not evaluated it. */
function ofUnmet(call: Call, record: Allocation): pb.Explanation {
  const causes = waitReasons(call.plane.view(), record);
  return create(pb.ExplanationSchema, {
    ...headOf(call, record),
    summary: record.hold === undefined ? unmetSummary(causes[0]?.text) : heldSummary(record.id, record.hold),
    evaluatedAt: timestampFromMs(call.plane.now()),
    causes: causes.map(({ code, text }) => ({ code, text })),
  });
}

const unmetSummary = (first = "waits"): string => `It ${first}. The start time is not known.`;

function heldSummary(id: string, hold: Hold): string {
  const how = hold.as === "user" ? `\`lattice release ${id}\` queues it` : "an administrator releases it";
  return `It is ${holdReason(hold).text}: ${how}.`;
}

const headOf = (call: Call, { id, phase, spec, user }: Allocation) => ({
  id,
  state: phase.kind,
  vcluster: spec.vcluster,
  tenant: spec.tenant,
  user,
  logIndex: String(call.plane.view().index),
});

/** Usually a mistyped name, so these come first. */
const missingFeatures = ({ plane }: Call, { spec }: Allocation): readonly PendingReason[] =>
  unavailableFeatures(plane.view(), spec).map((text) => ({ code: "no_matching_nodes", text: `N${text.slice(1)}.` }));

function waitingSummary({ explanation, expected }: ExplainedAllocation, causes: readonly PendingReason[]): string {
  const { at, startsNow } = explanation;
  if (startsNow) return "It is about to start.";
  const [first] = causes;
  const why = first === undefined ? "It waits." : first.text;
  if (expected === null) return `${why} The start time is not known.`;
  return `${why} Expected to start in ${durationText(expected - at)}.`;
}

function nodesOf(
  call: Call,
  { explanation: { nodes } }: ExplainedAllocation,
): MessageInitShape<typeof pb.NodeCountsSchema> {
  return {
    total: nodes.total,
    needed: nodes.needed,
    matching: nodes.matching,
    free: nodes.free,
    failedConstraints: nodes.failing.map(({ what, nodes: count }) => ({ constraint: what, nodes: count })),
    inUse: nodes.busy.map(({ allocation, nodes: count, until }) => ({
      ...shownTo(call, allocation),
      nodes: count,
      ...(until === null ? {} : { until: timestampFromMs(until) }),
    })),
    otherInUse: nodes.busyWithOthers,
    reserved: nodes.reserved.map(({ allocation, vcluster, nodes: count, startsAt }) => ({
      allocationId: shownTo(call, allocation).allocationId,
      vcluster: vcluster ?? "",
      nodes: count,
      startsAt: timestampFromMs(startsAt),
    })),
  };
}

function queueOf(
  call: Call,
  { explanation: { queue } }: ExplainedAllocation,
): MessageInitShape<typeof pb.QueuePositionSchema> {
  return {
    position: queue.position,
    length: queue.length,
    scores: queue.scores,
    ahead: queue.ahead.map(({ position, allocation, nodes, scores }) => ({
      position,
      ...shownTo(call, allocation),
      nodes,
      scores,
    })),
    ...(queue.reservation === null
      ? {}
      : { reservedStart: timestampFromMs(queue.reservation.startsAt), reservedNodes: [...queue.reservation.nodes] }),
  };
}

/** Placed, suspended or ended. */
function ofRecord(call: Call, record: Allocation): pb.Explanation {
  const { phase } = record;
  const nodes = "nodes" in phase ? phase.nodes : [];
  const startedAt = "startedAt" in phase ? phase.startedAt : null;
  const placedAt = isPlaced(phase) ? phase.placedAt : null;
  const from = startedAt ?? placedAt;
  const answer = create(pb.ExplanationSchema, { ...headOf(call, record), summary: recordSummary(record, from) });
  if (from === null) return answer;
  answer.placement = create(pb.PlacementSummarySchema, {
    nodes: [...nodes],
    ...(placedAt === null ? {} : { placedAt: timestampFromMs(placedAt) }),
    ...(startedAt === null ? {} : { startedAt: timestampFromMs(startedAt) }),
    waitedSeconds: Math.max(0, from - record.submittedAt) / 1000,
    backfilled: record.backfilled,
    scores: record.scores,
    attempt: record.attempt,
  });
  return answer;
}

function recordSummary(record: Allocation, from: number | null): string {
  const { phase, backfilled, scores, submittedAt } = record;
  if (phase.kind === "pending") return "It waits; the scheduler has not evaluated it yet.";
  if (phase.kind === "suspended") {
    if (phase.cause !== "walltime") return "It is suspended and will be queued again when its nodes are cleared.";
    return `It reached its walltime with checkpoint ${record.checkpoints?.last?.n ?? 0} complete: \`lattice resume ${record.id}\` queues it again.`;
  }
  const ended = isFinal(phase) && phase.message !== "" ? `: ${phase.message}` : "";
  if (from === null) return `It was ${phase.kind} before it started${ended}.`;
  const count = "nodes" in phase ? phase.nodes.length : 0;
  const where = count === 1 ? "1 node" : `${count} nodes`;
  const waited = durationText(from - submittedAt);
  const how = backfilled
    ? "by backfill: its nodes were free, and it delays no reservation"
    : "as the first in the queue whose nodes were free";
  const score = scores.total === undefined ? "" : `, with a score of ${(scores.total / 1000).toFixed(3)}`;
  return `It started on ${where} ${waited} after its submission, ${how}${score}.`;
}
