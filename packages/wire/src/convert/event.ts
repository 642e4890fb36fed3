// Converts events and cursors. A cursor is "index:n": the log index and the number of the event within the entry.

import { create } from "@bufbuild/protobuf";
import { type Event, type LogIndex, logIndex } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { EventSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { timestampFromMs } from "../json/timestamp.ts";

interface CursorValue {
  readonly index: LogIndex;
  readonly n: number;
}

interface EventRecord {
  readonly cursor: CursorValue;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: Event;
}

export const eventToProto = ({ cursor, at, event }: EventRecord): proto.Event =>
  create(EventSchema, {
    cursor: formatCursor(cursor),
    at: timestampFromMs(at),
    kind: event.kind,
    allocationId: event.allocation ?? "",
    attempt: event.attempt ?? 0,
    node: event.node ?? "",
    tenant: event.tenant ?? "",
    vcluster: event.vcluster ?? "",
    user: event.user ?? "",
    from: event.from ?? "",
    to: event.to ?? "",
    reason: event.reason ?? "",
    message: event.message ?? "",
    dagId: event.dag ?? "",
  });

export const formatCursor = ({ index, n }: CursorValue): string => `${index}:${n}`;

/** Returns `null` for text that is not a cursor. */
export function parseCursor(text: string): CursorValue | null {
  const match = /^(\d{1,15}):(\d{1,9})$/.exec(text);
  return match === null ? null : { index: logIndex(Number(match[1])), n: Number(match[2]) };
}
