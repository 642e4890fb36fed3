// The decisions about one allocation, oldest first: what its record keeps, which is the same on every server and
// outlives restarts and archiving, and the reservations that the present leader has made for it.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isFinal, isPlaced, MAX_PAST_ATTEMPTS, type PastAttempt } from "@lattice/core";
import { durationText } from "@lattice/scheduler";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import type { ReservationMoment } from "../../insight/index.ts";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { find, ownerOf } from "./work.ts";

export async function getTimeline(call: Call, request: pb.TimelineRequest): Promise<pb.Timeline> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.GetTimeline", ownerOf(record));
  const moments = await reservationsOf(call, record);
  const entries = timelineOf(record, moments);
  const known = record.past?.attempts.length ?? 0;
  const ended = record.attempt - (isPlaced(record.phase) || isFinal(record.phase) ? 1 : 0);
  return create(pb.TimelineSchema, {
    id: record.id,
    entries: entries.map(({ at, startsAt, nodes, scores, ...rest }) => ({
      ...rest,
      at: timestampFromMs(at),
      nodes: [...(nodes ?? [])],
      scores: scores ?? {},
      ...(startsAt === undefined ? {} : { startsAt: timestampFromMs(startsAt) }),
    })),
    leftOut: known === MAX_PAST_ATTEMPTS ? Math.max(0, ended - known) : 0,
    logIndex: String(call.plane.view().index),
  });
}

/** Without a leader to ask, the rest is still true. */
async function reservationsOf(call: Call, { id }: Allocation): Promise<readonly ReservationMoment[]> {
  try {
    return await call.plane.consult({ kind: "reservations", id });
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "not_leader") return [];
    throw error;
  }
}

export interface Moment {
  readonly at: number;
  readonly kind: string;
  readonly text: string;
  readonly attempt?: number;
  readonly nodes?: readonly string[];
  readonly scores?: Allocation["scores"];
  readonly startsAt?: number;
}

export function timelineOf(record: Allocation, reservations: readonly ReservationMoment[]): readonly Moment[] {
  const { spec, submittedAt, past } = record;
  const moments: Moment[] = [
    { at: submittedAt, kind: "submitted", text: `Submitted by ${record.user} to vCluster ${spec.vcluster}.` },
    ...reservations.map(reservationMoment),
    ...(past?.refusals ?? []).map(({ at, code, detail }) => ({
      at,
      kind: "placement_refused",
      text: `A placement was refused (${code}): ${detail}.`,
    })),
    ...(past?.attempts ?? []).flatMap(attemptMoments),
    ...presentMoments(record),
  ];
  // What happened at one instant stays in the order above.
  return moments.sort((a, b) => a.at - b.at);
}

function reservationMoment({ at, kind, startsAt, nodes }: ReservationMoment): Moment {
  const what = kind === "reserved" ? "Reserved" : "The reservation moved:";
  const text = `${what} ${nodesText(nodes.length)}, to start in ${durationText(startsAt - at)}.`;
  return { at, kind, text, nodes, startsAt };
}

function attemptMoments(past: PastAttempt): Moment[] {
  const { attempt, nodeCount, nodes, placedAt, startedAt, endedAt, to, cause, scoreMilli, backfilled } = past;
  const moments: Moment[] = [
    {
      at: placedAt,
      kind: "placed",
      text: placedText(nodeCount, backfilled, scoreMilli),
      attempt,
      nodes,
      scores: { total: scoreMilli },
    },
  ];
  if (startedAt !== null) moments.push({ at: startedAt, kind: "started", text: "Started.", attempt, nodes });
  const kind = to === "suspended" ? "suspended" : cause === "preempted" ? "preempted" : "requeued";
  moments.push({ at: endedAt, kind, text: AFTERWARDS[kind](cause), attempt, nodes });
  return moments;
}

const AFTERWARDS = {
  suspended: () => "Suspended after a checkpoint.",
  preempted: () => "Preempted, and queued again.",
  requeued: (cause: string) => `Queued again: ${cause.replaceAll("_", " ")}.`,
} as const;

/** The attempt that it is in, or ended with. */
function presentMoments({ phase, attempt, backfilled, scores }: Allocation): Moment[] {
  if (!isPlaced(phase) && !isFinal(phase)) return [];
  const { nodes } = phase;
  const placed = placedText(nodes.length, backfilled, scores.total ?? 0);
  const moments: Moment[] = [];
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  if (isPlaced(phase)) moments.push({ at: phase.placedAt, kind: "placed", text: placed, attempt, nodes, scores });
  // When it was placed is not kept beyond its end, where and by which score is.
  if (startedAt !== null) {
    const text = isPlaced(phase) ? "Started." : `Started. ${placed}`;
    moments.push({ at: startedAt, kind: "started", text, attempt, nodes, ...(isPlaced(phase) ? {} : { scores }) });
  }
  if (isFinal(phase)) moments.push({ at: phase.endedAt, kind: phase.kind, text: endText(phase), attempt });
  return moments;
}

function endText(phase: Extract<Allocation["phase"], { readonly endedAt: number }>): string {
  const exit = phase.exitCode === null ? "" : `, exit code ${phase.exitCode}`;
  const message = phase.message === "" ? "" : `: ${phase.message}`;
  switch (phase.kind) {
    case "completed":
      return `Completed${exit}.`;
    case "failed":
      return `Failed (${phase.reason}${exit})${message}.`;
    case "cancelled":
      return `Cancelled by ${phase.by}${phase.reason === "" ? "" : `: ${phase.reason}`}.`;
  }
}

function placedText(count: number, backfilled: boolean, scoreMilli: number): string {
  const how = backfilled ? " by backfill" : "";
  return `Placed on ${nodesText(count)}${how} with a score of ${(scoreMilli / 1000).toFixed(3)}.`;
}

const nodesText = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);
