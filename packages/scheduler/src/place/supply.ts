// The nodes that a job could take, by cell, and the nodes themselves once the cells are chosen. Now: free nodes that
// are not reserved before the job would end. Later: nodes that are released by then and not reserved meanwhile.
// Required nodes are left out and checked separately.

import { bitsOf, clearAll, countBits, hasBit, keepOpen, putBit } from "../base/bits.ts";
import type { Job } from "../fit/job.ts";
import { countCells, walkCell } from "../machine/cell-bits.ts";
import type { MatchingHardware } from "../machine/match.ts";
import type { Draft } from "../plan/draft.ts";
import { setReleasedBy } from "../plan/release-order.ts";
import type { CellCount, Supply } from "./node-request.ts";

/**
 * Returns the nodes that are free now and open while the job runs; valid until the next call. `null` when a required
 * node is not.
 */
export function supplyNow(draft: Draft, job: Job): Supply | null {
  const { match } = job;
  const { ofNode } = draft.machine.cells;
  const endsAt = draft.now + job.occupancy;
  // Only the matching cells are read, and they are written first, so one array serves all calls.
  const counts = draft.scratch;
  let total = 0;
  for (let i = 0; i < match.cells.length; i += 1) {
    const cell = match.cells[i] as number;
    const free = draft.freeIn[cell] as number;
    counts[cell] = free;
    total += free;
  }
  draft.reservedIntervals.countReservedFree(endsAt, (cell, reserved) => {
    if (match.kinds[draft.machine.cells.kindOf[cell] as number] !== 1) return;
    counts[cell] = (counts[cell] as number) - reserved;
    total -= reserved;
  });
  const isOpen = (node: number): boolean =>
    hasBit(draft.free, node) && !hasBit(draft.reservedIntervals.reservedBefore(endsAt), node);
  for (const node of match.excluded) if (isOpen(node)) leaveOut(node);
  for (const node of match.required ?? NONE) {
    if (!isOpen(node)) return null;
    leaveOut(node);
  }
  return { cells: match.cells, counts, total };

  function leaveOut(node: number): void {
    counts[ofNode[node] as number] = (counts[ofNode[node] as number] as number) - 1;
    total -= 1;
  }
}

/** Returns the lowest numbers of each cell that are open until the job ends, with the required nodes, ascending. */
export function pickNow(draft: Draft, job: Job, picks: readonly CellCount[]): number[] {
  return pickFree(draft, job, picks, draft.reservedIntervals.reservedBefore(draft.now + job.occupancy));
}

/** Returns the lowest numbers of each cell that are free and not closed. */
export function pickFree(draft: Draft, { match }: Job, picks: readonly CellCount[], closed: Uint32Array): number[] {
  const { bits, free, machine } = draft;
  bits.set(free);
  clearAll(bits, closed);
  const nodes = clearNamed(bits, match);
  for (const { cell, count } of picks) {
    if (count === 0) continue;
    let missing = count;
    walkCell(bits, machine.cells, cell, (node) => {
      nodes.push(node);
      missing -= 1;
      return missing > 0;
    });
  }
  return ascending(nodes);
}

/** Removes named nodes from the choice; returns the required ones. */
function clearNamed(bits: Uint32Array, { excluded, required }: Job["match"]): number[] {
  for (const node of excluded) putBit(bits, node, false);
  if (required === null) return [];
  for (const node of required) putBit(bits, node, false);
  return [...required];
}

/**
 * Returns the nodes that are released by the instant and not reserved while the job would run; valid until the next
 * call.
 */
export function availableBits(draft: Draft, job: Job, startsAt: number): Uint32Array {
  const { bits } = draft;
  setReleasedBy(draft, startsAt, bits);
  clearAll(bits, draft.reservedIntervals.reservedWithin(startsAt, startsAt + job.occupancy));
  return bits;
}

/**
 * Returns the nodes available at that instant while the job runs, valid until the next call; `null` when there are too
 * few. `pickLatest` reads the bits it leaves.
 */
export function supplyAt(draft: Draft, job: Job, startsAt: number): Supply | null {
  const { match, nodesNeeded } = job;
  const { machine } = draft;
  const { bits } = draft;
  setReleasedBy(draft, startsAt, bits);
  const reserved = draft.reservedIntervals.reservedWithin(startsAt, startsAt + job.occupancy);
  const isSelective = match.hardware.size < machine.usableCount;
  let total = keepOpen(bits, reserved, isSelective ? matchingBits(machine, match.hardware) : null);
  if (total < nodesNeeded) return null;
  if (match.required?.some((node) => !hasBit(bits, node)) === true) return null;
  if (match.excluded.size > 0 || match.required === null || match.required.length > 0) {
    clearNamed(bits, match);
    total = countBits(bits);
  }
  const counts = countCells(bits, machine.cells, match.cells, draft.scratch);
  return { cells: match.cells, counts, total };
}

/** Returns the nodes of matching hardware; remembered for as long as the hardware index. */
export function matchingBits({ cells, nodes }: Draft["machine"], hardware: MatchingHardware): Uint32Array {
  const known = bitsByHardware.get(hardware);
  if (known !== undefined) return known;
  const matching: number[] = [];
  for (const cell of hardware.cells) {
    for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
      matching.push(cells.nodes[at] as number);
    }
  }
  const bits = bitsOf(matching, nodes.length);
  bitsByHardware.set(hardware, bits);
  return bits;
}

const bitsByHardware = new WeakMap<MatchingHardware, Uint32Array>();

/**
 * Picks from the bits that `supplyAt` has left the nodes of each cell that are released last, so that free nodes stay
 * open to backfill; ascending.
 */
export function pickLatest(draft: Draft, job: Job, picks: readonly CellCount[]): number[] {
  const nodes = [...(job.match.required ?? NONE)];
  for (const { cell, count } of picks) pickLatestOfCell(draft, cell, count, nodes);
  return ascending(nodes);
}

/** There are many nodes and few instants: sort the instants, not the nodes. */
function pickLatestOfCell(
  { bits, machine: { cells }, availableFrom }: Draft,
  cell: number,
  count: number,
  into: number[],
): void {
  const byInstant = new Map<number, number>();
  let instant = Number.NaN;
  let equal = 0;
  const tally = (): void => void (equal > 0 && byInstant.set(instant, (byInstant.get(instant) ?? 0) + equal));
  walkCell(bits, cells, cell, (node) => {
    const at = availableFrom[node] as number;
    // Neighbouring nodes are mostly released together.
    if (at !== instant) {
      tally();
      instant = at;
      equal = 0;
    }
    equal += 1;
    return true;
  });
  tally();
  let missing = count;
  let last = Number.NEGATIVE_INFINITY;
  for (const at of [...byInstant.keys()].sort((a, b) => b - a)) {
    last = at;
    if (missing <= (byInstant.get(at) ?? 0)) break;
    missing -= byInstant.get(at) ?? 0;
  }
  walkCell(bits, cells, cell, (node) => {
    const at = availableFrom[node] as number;
    if (at < last || (at === last && missing === 0)) return true;
    if (at === last) missing -= 1;
    into.push(node);
    return true;
  });
}

/** Mostly sorted already. */
function ascending(nodes: number[]): number[] {
  for (let i = 1; i < nodes.length; i += 1) {
    if ((nodes[i - 1] as number) > (nodes[i] as number)) return nodes.sort((a, b) => a - b);
  }
  return nodes;
}

const NONE: readonly number[] = [];
