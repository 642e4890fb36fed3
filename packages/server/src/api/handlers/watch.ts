// Events as they are committed, from a cursor on. A stream stays open until the caller closes it, even when the watched
// allocation has ended: clients decide when they are done.

import { type Event, type LogIndex, logIndex } from "@lattice/core";
import { eventToProto, parseCursor, type pb } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Cursor, NumberedEvent } from "../../state/events/cursor.ts";
import { authorize, authorizeList, reaches, reachOf, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { findWork, ownerOf } from "./work.ts";

const KINDS: readonly Event["kind"][] = [
  "allocation_changed",
  "node_changed",
  "claim_released",
  "tenant_changed",
  "vcluster_changed",
  "placement_refused",
  "dag_changed",
  "notice_changed",
  "delivery_dropped",
  "checkpoint",
];

export async function* watch(call: Call, request: pb.WatchRequest): AsyncGenerator<readonly pb.Event[]> {
  authorizeList(call.principal, "AllocationService.Watch");
  const after = request.cursor === "" ? null : cursorOf(request.cursor);
  const wanted = await filterOf(call, request);
  for await (const batch of call.plane.events(after, call.signal)) {
    const news = batch.filter(({ event }) => wanted(event)).map(messageOf);
    if (news.length > 0) yield news;
  }
}

/** Converted messages, shared by all watchers. */
const messages = new WeakMap<NumberedEvent, pb.Event>();

function messageOf(numbered: NumberedEvent): pb.Event {
  const known = messages.get(numbered);
  if (known !== undefined) return known;
  const message = eventToProto(numbered);
  messages.set(numbered, message);
  return message;
}

/** "index:n" of an event, or the log_index that a list answered with: everything after it. */
function cursorOf(text: string): Cursor {
  const cursor = /^[0-9]{1,15}$/.test(text) ? endOf(logIndex(Number(text))) : parseCursor(text);
  if (cursor !== null) return cursor;
  throw invalid("cursor", "is not a cursor", "Pass the cursor of an event, or the log_index of a list, unchanged.");
}

/** Returns the position after all events of an entry. */
export const endOf = (index: LogIndex): Cursor => ({ index, n: Number.MAX_SAFE_INTEGER });

async function filterOf(call: Call, request: pb.WatchRequest): Promise<(event: Event) => boolean> {
  for (const [i, kind] of request.kinds.entries())
    if (!(KINDS as readonly string[]).includes(kind))
      throw invalid(`kinds[${i}]`, "is not a kind of event", `The kinds are ${KINDS.join(", ")}.`);
  if (request.allocationId !== "") {
    const record = await findWork(call, request.allocationId);
    authorize(call.principal, "AllocationService.Watch", ownerOf(record));
  }
  const kinds = new Set<string>(request.kinds);
  const seesAll = reachOf(call.principal, "AllocationService.Watch") === "all";
  return (event) =>
    (kinds.size === 0 || kinds.has(event.kind)) &&
    (request.allocationId === "" || event.allocation === request.allocationId) &&
    (request.node === "" || event.node === request.node) &&
    (request.tenant === "" || event.tenant === request.tenant) &&
    (request.user === "" || event.user === request.user) &&
    (seesAll || visible(call, event));
}

/** Events that concern no user's work are visible to all. */
const PUBLIC: ReadonlySet<Event["kind"]> = new Set(["node_changed", "vcluster_changed", "cluster_restored"]);

function visible(call: Call, event: Event): boolean {
  const { principal } = call;
  if (event.allocation === undefined && PUBLIC.has(event.kind)) return true;
  const target = { tenant: event.tenant ?? null, user: event.user ?? null };
  if (event.kind !== "tenant_changed")
    return reaches(principal, "AllocationService.Watch", ownerIn(call, event) ?? target);
  // The user of such an event is the administrator who made the change, not its subject.
  if (GRANTED.has(event.to ?? "")) return reaches(principal, "AccessService.ListGrants", target);
  return reaches(principal, "AdminService.GetTenant", { ...target, user: null });
}

const GRANTED: ReadonlySet<string> = new Set(["granted", "revoked"]);

/** Returns the owner of the allocation for an event that does not name a user. */
function ownerIn(call: Call, { allocation, user }: Event): Target | null {
  const record = allocation === undefined || user !== undefined ? undefined : call.plane.view().allocation(allocation);
  return record === undefined ? null : ownerOf(record);
}
