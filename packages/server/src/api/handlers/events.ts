// The events of one allocation: the stored ones, and for a stream also the later ones until the allocation has ended.
// The stream reads the record again after every entry that changes it, so no event is lost when servers restart or
// the client moves to another server.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isFinal, type NoteType } from "@lattice/core";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import {
  type AllocationEvent,
  droppedCount,
  type EventCursor,
  eventsOf,
  hasMissed,
  isAfter,
  parseEventCursor,
} from "../../state/events/events-of.ts";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { endOf } from "./watch.ts";
import { find, ownerOf } from "./work.ts";

const TYPES: readonly NoteType[] = ["state", "decision", "failure", "scaling", "preemption"];
/** A new reader learns how many events were left out and misses none of the rest. */
const BEGINNING: EventCursor = { index: -1, n: 0 };

export async function listEvents(call: Call, request: pb.ListEventsRequest): Promise<pb.ListEventsResponse> {
  const record = await find(call, request.id);
  authorize(call.principal, "EventService.ListEvents", ownerOf(record));
  const wanted = filterOf(request);
  checkKept(record, cursorOf(request));
  return create(pb.ListEventsResponseSchema, {
    id: record.id,
    events: eventsOf(record).filter(wanted).map(toProto),
    omitted: droppedCount(record),
    logIndex: String(call.plane.view().index),
  });
}

export async function* streamEvents(call: Call, request: pb.ListEventsRequest): AsyncGenerator<pb.AllocationEvent> {
  const wanted = filterOf(request);
  // Taken before the first read, so that no event is lost between the two.
  const from = endOf(call.plane.view().index);
  let record = await find(call, request.id);
  authorize(call.principal, "EventService.StreamEvents", ownerOf(record));
  let seen = cursorOf(request);
  const news = (): readonly pb.AllocationEvent[] => {
    checkKept(record, seen);
    const fresh = eventsOf(record).filter((event) => isAfter(event, seen));
    seen = parseEventCursor(fresh.at(-1)?.cursor ?? "") ?? seen;
    return fresh.filter(wanted).map(toProto);
  };
  yield* news();
  if (isFinal(record.phase)) return;
  for await (const batch of call.plane.events(from, call.signal)) {
    if (!batch.some(({ event }) => event.allocation === record.id)) continue;
    record = await find(call, request.id);
    yield* news();
    if (isFinal(record.phase)) return;
  }
}

function filterOf(request: pb.ListEventsRequest): (event: AllocationEvent) => boolean {
  const { types } = request;
  for (const [i, type] of types.entries())
    if (!(TYPES as readonly string[]).includes(type))
      throw invalid(`types[${i}]`, "is not a type of event", `The types are ${TYPES.join(", ")}.`);
  const after = cursorOf(request);
  return (event) => isAfter(event, after) && (types.length === 0 || types.includes(event.type));
}

function cursorOf({ cursor }: pb.ListEventsRequest): EventCursor {
  const after = cursor === "" ? BEGINNING : parseEventCursor(cursor);
  if (after === null) throw invalid("cursor", "is not a cursor", "Pass the cursor of an event unchanged.");
  return after;
}

function checkKept(record: Allocation, seen: EventCursor): void {
  if (seen === BEGINNING || !hasMissed(record, seen)) return;
  const detail = `Allocation ${record.id} no longer keeps everything that came after this cursor.`;
  throw new ProblemError("cursor_gone", { detail });
}

const toProto = ({ at, nodes, scores, ...rest }: AllocationEvent): pb.AllocationEvent =>
  create(pb.AllocationEventSchema, { ...rest, at: timestampFromMs(at), nodes: [...nodes], scores: scores ?? {} });
