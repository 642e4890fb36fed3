// The profile of expected releases, walked from now on: at each instant at which something changes for a
// job, how many nodes of each cell it could start on. Nodes that nobody holds only ever come back;
// they are in lists ordered by when. A held node is open for a start until the job would reach into
// the hold, and again when the hold is over; those few get events of their own.

import { forEachBit, hasBit } from "./bits.ts";
import { comingBackOf } from "./coming-back.ts";
import type { Draft } from "./draft.ts";
import type { Job } from "./job.ts";
import { START_TRY_LIMIT } from "./limits.ts";
import type { Supply } from "./place/choose.ts";

/** Answers whether the walk may end here. The supply is valid only during the call. */
export type Visit = (startsAt: number, supply: Supply) => boolean;

/** In order of time, every instant after now with enough nodes; the required ones among them. */
export function sweep(draft: Draft, job: Job, visit: Visit): void {
  const open = createCount(draft, job);
  const busy = streamOf(draft, comingBackAsBefore(draft));
  const begun = streamOf(draft, inOrderOfReturn(draft, draft.started));
  const events = heldEvents(draft, job);
  let nextEvent = 0;
  let tried = 0;
  let skip = 0;
  while (true) {
    const eventAt = events[nextEvent]?.at ?? Number.POSITIVE_INFINITY;
    const at = Math.min(busy.at(), begun.at(), eventAt);
    if (at === Number.POSITIVE_INFINITY) return;
    let gained = busy.advance(at, open.add);
    gained = begun.advance(at, open.add) || gained;
    for (let event = events[nextEvent]; event !== undefined && event.at === at; event = events[nextEvent]) {
      nextEvent += 1;
      open.change(event.node, event.by);
      if (event.by === 1) gained = true;
    }
    if (at <= draft.now || !gained || !open.suffices()) continue;
    skip -= 1;
    if (skip > 0) continue;
    if (visit(at, open.supply())) return;
    tried += 1;
    // Hard to place: look less and less often, so that one job cannot hold up the cycle.
    skip = Math.floor(tried / START_TRY_LIMIT) * START_TRY_LIMIT;
  }
}

/** Where somebody has joined and stays longer, the node is among those begun. */
function comingBackAsBefore(draft: Draft): Int32Array {
  const { order } = comingBackOf(draft);
  const { availableFrom, machine, started } = draft;
  if (!started.some((node) => (machine.availableFrom[node] as number) > draft.now)) return order;
  return order.filter((node) => availableFrom[node] === machine.availableFrom[node]);
}

interface Count {
  add(node: number): void;
  change(node: number, by: 1 | -1): void;
  suffices(): boolean;
  supply(): Supply;
}

/** What the job could start on, beginning with the free nodes that nobody holds. */
function createCount(draft: Draft, { match, least }: Job): Count {
  const { cells } = draft.machine;
  const required = new Set(match.required);
  const counts = new Int32Array(cells.count);
  const need = least - required.size;
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
  const everHeld = draft.holds.before(Number.POSITIVE_INFINITY).slice();
  const add = (node: number): void => {
    if (!hasBit(everHeld, node)) change(node, 1);
  };
  forEachBit(draft.free, add);
  return {
    add,
    change,
    suffices: () => total >= need && requiredOpen === required.size,
    supply: () => ({ cells: match.cells, counts, total }),
  };
}

interface Stream {
  /** When the next one comes back. */
  at(): number;
  /** Tells those that come back at that instant; false when none does. */
  advance(at: number, tell: (node: number) => void): boolean;
}

function streamOf({ availableFrom }: Draft, nodes: Int32Array): Stream {
  let next = 0;
  const at = (): number =>
    next < nodes.length ? (availableFrom[nodes[next] as number] as number) : Number.POSITIVE_INFINITY;
  return {
    at,
    advance(instant, tell) {
      const before = next;
      for (; at() === instant; next += 1) tell(nodes[next] as number);
      return next > before;
    },
  };
}

/** Those that come back at all, earliest first, then in the order given. Few instants, many nodes. */
function inOrderOfReturn({ availableFrom }: Draft, nodes: readonly number[]): Int32Array {
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

interface Event {
  readonly at: number;
  readonly node: number;
  readonly by: 1 | -1;
}

/** When held nodes begin and cease to be open for a start of this job. */
function heldEvents(draft: Draft, job: Job): readonly Event[] {
  const events: Event[] = [];
  const { cells } = draft.machine;
  for (const node of draft.holds.nodes()) {
    const cell = cells.ofNode[node] as number;
    if (cell < 0 || job.match.kinds[cells.kindOf[cell] as number] !== 1) continue;
    let from = draft.availableFrom[node] as number;
    const holds = [...draft.holds.of(node)].sort((a, b) => a.startsAt - b.startsAt);
    for (const hold of holds) {
      const latest = hold.startsAt - job.occupies;
      if (latest >= from) events.push({ at: from, node, by: 1 }, { at: latest + 1, node, by: -1 });
      from = Math.max(from, hold.endsAt);
    }
    if (from !== Number.POSITIVE_INFINITY) events.push({ at: from, node, by: 1 });
  }
  return events.sort((a, b) => a.at - b.at || a.by - b.by || a.node - b.node);
}
