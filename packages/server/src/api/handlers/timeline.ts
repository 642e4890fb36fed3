// The decisions about one allocation, oldest first: the events of its record, which are the same on every server, and
// the reservations that the present leader has made for it.

import { create } from "@bufbuild/protobuf";
import type { Allocation } from "@lattice/core";
import { durationText } from "@lattice/scheduler";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import type { ReservationMoment } from "../../lead/insight/index.ts";
import { droppedCount, eventsOf } from "../../state/events/events-of.ts";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { find, ownerOf } from "./work.ts";

export async function getTimeline(call: Call, request: pb.TimelineRequest): Promise<pb.Timeline> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.GetTimeline", ownerOf(record));
  const moments = await reservationsOf(call, record);
  const entries = timelineOf(record, moments);
  return create(pb.TimelineSchema, {
    id: record.id,
    entries: entries.map(({ at, startsAt, nodes, scores, ...rest }) => ({
      ...rest,
      at: timestampFromMs(at),
      nodes: [...(nodes ?? [])],
      scores: scores ?? {},
      ...(startsAt === undefined ? {} : { startsAt: timestampFromMs(startsAt) }),
    })),
    omitted: droppedCount(record),
    logIndex: String(call.plane.view().index),
  });
}

/** Returns none without a leader; the rest of the timeline is still complete. */
async function reservationsOf(call: Call, { id }: Allocation): Promise<readonly ReservationMoment[]> {
  try {
    return await call.plane.askScheduler({ kind: "reservations", id });
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "not_leader") return [];
    throw error;
  }
}

interface Moment {
  readonly at: number;
  readonly kind: string;
  readonly text: string;
  readonly attempt?: number;
  readonly nodes?: readonly string[];
  readonly scores?: Allocation["scores"];
  readonly startsAt?: number;
}

/** Merges the events of the record with the reservations. */
function timelineOf(record: Allocation, reservations: readonly ReservationMoment[]): readonly Moment[] {
  const happened = eventsOf(record).map(({ at, kind, text, attempt, nodes, scores }) => ({
    at,
    kind,
    text,
    attempt,
    nodes,
    ...(scores === undefined ? {} : { scores }),
  }));
  // Entries of the same instant keep this order.
  return [...happened, ...reservations.map(reservationMoment)].sort((a, b) => a.at - b.at);
}

function reservationMoment({ at, kind, startsAt, nodes }: ReservationMoment): Moment {
  const what = kind === "reserved" ? "Reserved" : "The reservation moved:";
  const text = `${what} ${nodesText(nodes.length)}, to start in ${durationText(startsAt - at)}.`;
  return { at, kind, text, nodes, startsAt };
}

const nodesText = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);
