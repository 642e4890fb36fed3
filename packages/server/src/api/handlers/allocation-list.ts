// Lists allocations, newest first, without copying or sorting the state. The smallest index of the view that contains
// every requested state is walked once, oldest first, and only the newest page of matches is kept. Finished allocations
// also come from the archive and are merged by id: a long-running allocation may be older than many archived ones.

import {
  type Allocation,
  type AllocationId,
  compareAllocationIds,
  type PhaseKind,
  parseUserName,
  type View,
} from "@lattice/core";
import type { RowQuery } from "../../state/history/index.ts";
import type { ControlPlane } from "../call/control-plane.ts";
import { MAX_ARCHIVE_ROUNDS } from "../limits/limits.ts";
import { recentTotal } from "./recent-total.ts";
import { isGroup, type Work } from "./work.ts";

export interface AllocationQuery {
  /** Empty for all. */
  readonly states: ReadonlySet<PhaseKind>;
  /** "" for any user. `null` for a user whose work the caller may not see: the list is empty. */
  readonly user: string | null;
  readonly tenant: string;
  readonly vcluster: string;
  readonly node?: string;
  readonly name?: string;
  readonly project?: string;
  /** The work must have all of these; a `null` value matches any value. */
  readonly tags?: readonly Tag[];
  /** Milliseconds since 1970. Excludes work that ended before `sinceMs` or was submitted at or after `untilMs`. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** Only ids below this one. */
  readonly before: AllocationId | null;
  /** Elements of task groups instead of the groups. */
  readonly expand: boolean;
  /** Elements of this group only. Default: of all groups. */
  readonly group?: string;
  readonly size: number;
  /** The caller; totals are cached per caller. */
  readonly cacheKey: string;
  /** The work that the caller may see. */
  readonly visible: (work: Work) => boolean;
}

type Query = AllocationQuery & { readonly user: string };

interface AllocationPage {
  readonly shown: readonly Work[];
  /** The last id of this page; `null` on the last page. */
  readonly nextBefore: AllocationId | null;
  /**
   * Matches in the live state on all pages; for long lists the count may be some seconds old. The archive is not
   * counted: that would read all of it.
   */
  readonly total: number;
}

export async function listAllocations(plane: ControlPlane, requested: AllocationQuery): Promise<AllocationPage> {
  const { user } = requested;
  if (user === null) return { shown: [], nextBefore: null, total: 0 };
  const query = { ...requested, user };
  const live = await newestLive(plane, query);
  const past = asksForFinished(query.states) ? await newestArchived(plane, query) : { found: [], scannedTo: null };
  const { scannedTo } = past;
  // If the archive was not read to its end, lower ids belong to a later page.
  const merged = mergeNewestFirst(live.found, past.found).filter(
    (allocation) => scannedTo === null || compareAllocationIds(allocation.id, scannedTo) >= 0,
  );
  const shown = merged.slice(0, query.size);
  const last = shown.at(-1);
  const nextBefore = merged.length > query.size && last !== undefined ? last.id : scannedTo;
  return { shown, nextBefore, total: live.total };
}

export const FINISHED = ["completed", "failed", "cancelled"] as const satisfies readonly PhaseKind[];
const PLACED: readonly PhaseKind[] = ["staging", "running", "checkpointing"];

const asksForFinished = (states: ReadonlySet<PhaseKind>): boolean => FINISHED.some((kind) => states.has(kind));

async function newestLive(plane: ControlPlane, query: Query): Promise<{ found: Work[]; total: number }> {
  const view = plane.view();
  if (isShort(view, query)) return newestWithTotal(view, query);
  const found = newestOnly(view, query);
  return { found, total: await recentTotal(plane, keyOf(query), () => countInSlices(view, query)) };
}

/** Records judged in one turn of the event loop: one or two milliseconds. */
const SLICE = 2_000;

/** The state may change meanwhile: the count is of the records that were there at the start. */
async function countInSlices(view: View, query: Query): Promise<number> {
  const records: Work[] = [];
  for (const source of sourcesFor(view, query)) for (const record of source) records.push(record);
  let total = 0;
  for (let at = 0; at < records.length; at += SLICE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const end = Math.min(records.length, at + SLICE);
    for (let i = at; i < end; i += 1) if (matches(records[i] as Work, query)) total += 1;
  }
  return total;
}

function keyOf({ before: _before, size: _size, visible: _visible, states, ...filter }: Query): string {
  return JSON.stringify([filter, [...states].sort()]);
}

/** Counting all matches of a longer list takes longer than finding the newest of them. */
const COUNTED_EVERY_TIME = 20_000;

function isShort(view: View, query: Query): boolean {
  if (view.allocationCount <= COUNTED_EVERY_TIME || query.expand || query.node !== undefined) return true;
  const index = indexFor(view, query);
  return index === "phase" || (index === "user" && ownedCount(view, query) <= COUNTED_EVERY_TIME);
}

function newestOnly(view: View, query: Query): Work[] {
  const room = query.size + 1;
  const groups = newestWithTotal(view, query, [view.groups()]).found;
  const found: Work[] = [];
  for (const allocation of view.newest(query.before)) {
    if (matches(allocation, query)) found.push(allocation);
    if (found.length >= room) break;
  }
  return mergeNewestFirst(groups, found).slice(0, room);
}

function newestWithTotal(
  view: View,
  query: Query,
  sources: readonly Iterable<Work>[] = sourcesFor(view, query),
): { found: Work[]; total: number } {
  let total = 0;
  let found: Work[] = [];
  for (const source of sources) {
    // A ring buffer of the newest matches.
    const ring: Work[] = [];
    const room = query.size + 1;
    let taken = 0;
    for (const allocation of source) {
      if (!matches(allocation, query)) continue;
      total += 1;
      if (query.before !== null && compareAllocationIds(allocation.id, query.before) >= 0) continue;
      ring[taken % room] = allocation;
      taken += 1;
    }
    found = mergeNewestFirst(found, newestOf(ring, taken)).slice(0, room);
  }
  return { found, total };
}

function newestOf(ring: readonly Work[], taken: number): Work[] {
  const newest: Work[] = [];
  for (let n = 1; n <= ring.length; n += 1) {
    const work = ring[(taken - n) % ring.length];
    if (work !== undefined) newest.push(work);
  }
  return newest;
}

/** Returns lists that are each ordered by id. */
function sourcesFor(view: View, query: Query): Iterable<Work>[] {
  const groups = query.expand || query.node !== undefined ? [] : [view.groups()];
  return [...groups, ...recordsFor(view, query)];
}

function recordsFor(view: View, query: Query): Iterable<Allocation>[] {
  const index = indexFor(view, query);
  if (index === null) return [view.allocations()];
  if (index === "user") return ownedBy(view, query);
  const sources: Iterable<Allocation>[] = [];
  if (PLACED.some((kind) => query.states.has(kind))) sources.push(view.placed());
  if (query.states.has("pending")) sources.push(view.blocked(), outside(view.held()), outside(view.onHold(), true));
  if (query.states.has("pending"))
    for (const vcluster of view.vclusters())
      if (query.vcluster === "" || query.vcluster === vcluster.id) sources.push(view.pending(vcluster.id));
  return sources;
}

/** Filters to records that are neither queued nor blocked; no record is in both lists. */
function* outside(records: Iterable<Allocation>, onHold = false): Generator<Allocation> {
  for (const record of records) {
    if (record.unmet.length === 0 && (onHold || record.hold === undefined)) yield record;
  }
}

/** Returns the smallest index that contains all matches; `null` when a scan of all allocations is faster. */
function indexFor(view: View, query: Query): "phase" | "user" | null {
  const phase = isOfFewPhases(view, query) ? "phase" : null;
  if (query.user === "") return phase;
  const owned = ownedCount(view, query);
  if (phase !== null) return owned < phaseCount(view, query) ? "user" : phase;
  return isMany(view, owned) ? null : "user";
}

const ownedCount = (view: View, query: Query): number => {
  const user = parseUserName(query.user);
  return user === null ? 0 : view.ofUserCount(user);
};

/** A text that is not a user name owns nothing. */
function ownedBy(view: View, query: Query): Iterable<Allocation>[] {
  const user = parseUserName(query.user);
  return user === null ? [] : [view.ofUser(user)];
}

function phaseCount(view: View, { states }: Query): number {
  const placed = PLACED.some((kind) => states.has(kind)) ? view.placedCount : 0;
  return states.has("pending") ? placed + queuedCount(view) + view.blockedCount + view.onHoldCount : placed;
}

function isOfFewPhases(view: View, query: Query): boolean {
  const live: readonly PhaseKind[] = ["pending", ...PLACED];
  const only = query.states.size > 0 && [...query.states].every((state) => live.includes(state));
  return only && !(query.states.has("pending") && isMany(view, queuedCount(view)));
}

/** Lookups by id take longer than a full scan when there are many. */
const isMany = (view: View, count: number): boolean => count > view.allocationCount / 4;

function queuedCount(view: View): number {
  let count = 0;
  for (const { id } of view.vclusters()) count += view.pendingCount(id);
  return count;
}

async function newestArchived(
  plane: ControlPlane,
  query: Query,
): Promise<{ found: Allocation[]; scannedTo: AllocationId | null }> {
  const limit = query.size + 1;
  const base: RowQuery = {
    limit,
    states: [...query.states],
    ...(query.expand || query.node !== undefined ? {} : { whole: true }),
    ...(query.user === "" ? {} : { user: query.user }),
    ...(query.tenant === "" ? {} : { tenant: query.tenant }),
    ...(query.vcluster === "" ? {} : { vcluster: query.vcluster }),
    ...(query.name === undefined ? {} : { name: query.name }),
    ...(query.sinceMs === undefined ? {} : { endedFrom: query.sinceMs }),
    ...(query.untilMs === undefined ? {} : { submittedBefore: query.untilMs }),
  };
  const found: Allocation[] = [];
  let before = query.before;
  for (let round = 0; round < MAX_ARCHIVE_ROUNDS; round++) {
    const batch = await plane.archive(before === null ? base : { ...base, before });
    found.push(...batch.filter((allocation) => matches(allocation, query)));
    before = batch.at(-1)?.id ?? before;
    if (batch.length < limit) return { found, scannedTo: null };
    if (found.length >= limit) break;
  }
  return { found, scannedTo: before };
}

function matches(work: Work, query: Query): boolean {
  const { spec, phase } = work;
  if (query.states.size > 0 && !query.states.has(phase.kind)) return false;
  if (!isShownAs(work, query)) return false;
  if (query.user !== "" && work.user !== query.user) return false;
  if (query.tenant !== "" && spec.tenant !== query.tenant) return false;
  if (query.vcluster !== "" && spec.vcluster !== query.vcluster) return false;
  if (query.name !== undefined && spec.name !== query.name) return false;
  if (query.project !== undefined && spec.project !== query.project) return false;
  if (query.node !== undefined && !("nodes" in phase && (phase.nodes as readonly string[]).includes(query.node)))
    return false;
  return hasTags(work, query.tags) && wasThere(work, query) && query.visible(work);
}

export interface Tag {
  readonly key: string;
  readonly value: string | null;
}

const hasTags = ({ spec }: Work, wanted: readonly Tag[] = []): boolean =>
  wanted.every(({ key, value }) => Object.hasOwn(spec.tags, key) && (value === null || spec.tags[key] === value));

function wasThere({ phase, submittedAt }: Work, { sinceMs, untilMs }: Query): boolean {
  if (untilMs !== undefined && submittedAt >= untilMs) return false;
  return sinceMs === undefined || !("endedAt" in phase) || phase.endedAt >= sinceMs;
}

/** Shows either a group or its elements. Only elements run on nodes. */
function isShownAs(work: Work, { expand, group, node }: Query): boolean {
  if (isGroup(work) || work.group !== undefined) return !expand && group === undefined;
  if (group !== undefined) return work.element?.group === group;
  return expand || node !== undefined || work.element === undefined;
}

/** Both newest first; a record in both (archived in between) is shown once. */
function mergeNewestFirst(a: readonly Work[], b: readonly Work[]): Work[] {
  if (b.length === 0) return [...a];
  const merged: Work[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined && right === undefined) return merged;
    if (right === undefined || (left !== undefined && compareAllocationIds(left.id, right.id) >= 0)) {
      if (left !== undefined) merged.push(left);
      if (left !== undefined && left.id === right?.id) j += 1;
      i += 1;
    } else {
      merged.push(right);
      j += 1;
    }
  }
}
