// Sweeps the expected releases from now on: at each instant at which something changes for a job, counts the nodes of
// each cell that it could start on. A node without reservations only becomes available; such nodes are in lists ordered by
// release. A reserved node is open until a start would overlap the reservation, and again after it; those few nodes get
// events of their own. Budgets are another change: a job may have had its nodes before the power or bandwidth.

import { forEachBit, hasBit } from "../base/bits.ts";
import { START_TRY_LIMIT } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { Supply } from "../place/node-request.ts";
import type { Draft } from "../plan/draft.ts";
import { releaseOrderOf } from "../plan/release-order.ts";

/** Returns whether the sweep may end here. The supply is valid only during the call. */
type TryStart = (startsAt: number, supply: Supply) => boolean;

/** Calls back for every instant after now with enough nodes, the required ones among them, in order of time. */
export function sweepReleases(draft: Draft, job: Job, tryStart: TryStart): void {
  const open = createOpenNodes(draft, job);
  const busy = createStream(draft, unchangedReleases(draft));
  const started = createStream(draft, byRelease(draft, draft.startedNodes));
  const events = reservedNodeEvents(draft, job);
  const nextReturn = draft.budgets?.returnsOf(job) ?? (() => Number.POSITIVE_INFINITY);
  let nextEvent = 0;
  let last: number = draft.now;
  let tried = 0;
  let skip = 0;
  while (true) {
    const eventAt = events[nextEvent]?.at ?? Number.POSITIVE_INFINITY;
    const budgetAt = nextReturn(last);
    const at = Math.min(busy.nextAt(), started.nextAt(), eventAt, budgetAt);
    if (at === Number.POSITIVE_INFINITY) return;
    last = Math.max(last, at);
    let hasGained = at === budgetAt;
    hasGained = busy.advance(at, open.add) || hasGained;
    hasGained = started.advance(at, open.add) || hasGained;
    for (let event = events[nextEvent]; event !== undefined && event.at === at; event = events[nextEvent]) {
      nextEvent += 1;
      open.change(event.node, event.by);
      if (event.by === 1) hasGained = true;
    }
    if (at <= draft.now || !hasGained || !open.suffices()) continue;
    skip -= 1;
    if (skip > 0) continue;
    if (tryStart(at, open.supply())) return;
    tried += 1;
    // Hard to place: try less and less often, so that one job cannot delay the whole cycle.
    skip = Math.floor(tried / START_TRY_LIMIT) * START_TRY_LIMIT;
  }
}

/** A shared node whose last job ends later than before the plan is among the started nodes instead. */
function unchangedReleases(draft: Draft): Int32Array {
  const { order } = releaseOrderOf(draft);
  const { availableFrom, machine, startedNodes } = draft;
  if (!startedNodes.some((node) => (machine.availableFrom[node] as number) > draft.now)) return order;
  return order.filter((node) => availableFrom[node] === machine.availableFrom[node]);
}

interface OpenNodes {
  add(node: number): void;
  change(node: number, by: 1 | -1): void;
  suffices(): boolean;
  supply(): Supply;
}

/** The nodes that the job could start on; at first the free nodes without reservations. */
function createOpenNodes(draft: Draft, { match, nodesNeeded }: Job): OpenNodes {
  const { cells } = draft.machine;
  const required = new Set(match.required);
  const counts = new Int32Array(cells.count);
  const need = nodesNeeded - required.size;
  let total = 0;
  let requiredOpen = 0;
  const change = (node: number, by: 1 | -1): void => {
    const cell = cells.ofNode[node] as number;
    if (cell < 0 || match.kinds[cells.kindOf[cell] as number] !== 1) return;
    if (required.size > 0 && required.has(node)) {
      requiredOpen += by;
      return;
    }
    if (match.excluded.size > 0 && match.excluded.has(node)) return;
    counts[cell] = (counts[cell] as number) + by;
    total += by;
  };
  const everReserved = draft.reservedIntervals.reservedBefore(Number.POSITIVE_INFINITY).slice();
  const add = (node: number): void => {
    if (!hasBit(everReserved, node)) change(node, 1);
  };
  forEachBit(draft.free, add);
  return {
    add,
    change,
    suffices: () => total >= need && requiredOpen === required.size,
    supply: () => ({ cells: match.cells, counts, total }),
  };
}

interface ReleaseStream {
  /** When the next node is released. */
  nextAt(): number;
  /** Calls back for the nodes released at that instant; false when there is none. */
  advance(at: number, add: (node: number) => void): boolean;
}

function createStream({ availableFrom }: Draft, nodes: Int32Array): ReleaseStream {
  let next = 0;
  const nextAt = (): number =>
    next < nodes.length ? (availableFrom[nodes[next] as number] as number) : Number.POSITIVE_INFINITY;
  return {
    nextAt,
    advance(instant, add) {
      const before = next;
      for (; nextAt() === instant; next += 1) add(nodes[next] as number);
      return next > before;
    },
  };
}

/** The nodes with a known release, earliest first, then in the order given. There are few instants and many nodes. */
function byRelease({ availableFrom }: Draft, nodes: readonly number[]): Int32Array {
  const byInstant = new Map<number, number[]>();
  let count = 0;
  for (const node of nodes) {
    const at = availableFrom[node] as number;
    if (at === Number.POSITIVE_INFINITY) continue;
    const others = byInstant.get(at);
    if (others === undefined) byInstant.set(at, [node]);
    else others.push(node);
    count += 1;
  }
  const ordered = new Int32Array(count);
  let next = 0;
  for (const at of [...byInstant.keys()].sort((a, b) => a - b)) {
    for (const node of byInstant.get(at) ?? []) {
      ordered[next] = node;
      next += 1;
    }
  }
  return ordered;
}

interface OpenEvent {
  readonly at: number;
  readonly node: number;
  readonly by: 1 | -1;
}

/** The instants at which reserved nodes open and close for a start of this job. */
function reservedNodeEvents(draft: Draft, job: Job): readonly OpenEvent[] {
  const events: OpenEvent[] = [];
  const { cells } = draft.machine;
  for (const node of draft.reservedIntervals.nodes()) {
    const cell = cells.ofNode[node] as number;
    if (cell < 0 || job.match.kinds[cells.kindOf[cell] as number] !== 1) continue;
    let from = draft.availableFrom[node] as number;
    const intervals = [...draft.reservedIntervals.ofNode(node)].sort((a, b) => a.startsAt - b.startsAt);
    for (const { startsAt, endsAt } of intervals) {
      const latest = startsAt - job.occupancy;
      if (latest >= from) events.push({ at: from, node, by: 1 }, { at: latest + 1, node, by: -1 });
      from = Math.max(from, endsAt);
    }
    if (from !== Number.POSITIVE_INFINITY) events.push({ at: from, node, by: 1 });
  }
  return events.sort((a, b) => a.at - b.at || a.by - b.by || a.node - b.node);
}
