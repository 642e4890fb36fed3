// What a job could take, by cell, and the nodes themselves once it is decided how many of which cell.
// Now: free nodes that are not promised to anyone before it would end. Later: nodes that are back by
// then and promised to nobody meanwhile. Required nodes are left out of both and checked apart.

import { bitsOf, clearAll, countBits, forEachBit, keepOnly, setUpTo } from "./bits.ts";
import type { Draft } from "./draft.ts";
import { isFree } from "./draft.ts";
import type { Job } from "./job.ts";
import type { Hardware } from "./machine/match.ts";
import type { Part, Supply } from "./place/choose.ts";

/** Free now and open for as long as the job occupies them, valid until asked again; null when a required node is not. */
export function openNow(draft: Draft, job: Job): Supply | null {
  const { match } = job;
  const { ofNode } = draft.machine.cells;
  const endsAt = draft.now + job.occupies;
  // Only the matching cells are read, and those are written first: one array serves all.
  const counts = draft.scratch;
  let total = 0;
  for (let i = 0; i < match.cells.length; i += 1) {
    const cell = match.cells[i] as number;
    const free = draft.freeIn[cell] as number;
    counts[cell] = free;
    total += free;
  }
  draft.holds.heldBefore(endsAt, (cell, held) => {
    if (match.kinds[draft.machine.cells.kindOf[cell] as number] !== 1) return;
    counts[cell] = (counts[cell] as number) - held;
    total -= held;
  });
  const isOpen = (node: number): boolean => isFree(draft, node) && draft.holds.first(node) >= endsAt;
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

/** The lowest numbers of each cell that are open until `endsAt`, with the required ones, ascending. */
export function takeNow(draft: Draft, job: Job, picks: readonly Part[]): number[] {
  const endsAt = draft.now + job.occupies;
  const isOpen = (node: number): boolean => draft.holds.first(node) >= endsAt;
  return takeFree(draft, job, picks, isOpen);
}

export function takeFree(
  draft: Draft,
  { match }: Job,
  picks: readonly Part[],
  isOpen: (node: number) => boolean,
): number[] {
  const nodes = [...(match.required ?? NONE)];
  const hasNamed = match.excluded.size > 0 || nodes.length > 0;
  const isNamed = (node: number): boolean =>
    hasNamed && (match.excluded.has(node) || (match.required ?? NONE).includes(node));
  for (const { cell, count } of picks) {
    const start = draft.machine.cells.start[cell] as number;
    let missing = count;
    for (let at = start + (draft.freeIn[cell] as number) - 1; at >= start && missing > 0; at -= 1) {
      const node = draft.freeNodes[at] as number;
      if (!isOpen(node) || isNamed(node)) continue;
      nodes.push(node);
      missing -= 1;
    }
  }
  return ascending(nodes);
}

/** Nodes that can be had at that instant for as long as the job occupies them; null when they are too few. */
export function openAt(draft: Draft, job: Job, startsAt: number): Supply | null {
  const { match, least } = job;
  const { machine, availableFrom, bits } = draft;
  const endsAt = startsAt + job.occupies;
  setUpTo(bits, availableFrom, startsAt);
  for (const { startsAt: from, endsAt: to, nodes } of draft.holds.all()) {
    if (from < endsAt && to > startsAt) clearAll(bits, bitsOf(nodes, availableFrom.length));
  }
  if (match.hardware.size < machine.usableCount) keepOnly(bits, fitting(machine, match.hardware));
  if (countBits(bits) < least) return null;
  for (const node of match.excluded) dropBit(bits, node);
  for (const node of match.required ?? NONE) if (!dropBit(bits, node)) return null;
  const total = countBits(bits);
  const { count, ofNode } = machine.cells;
  const counts = new Int32Array(count);
  if (count === 1) counts[0] = total;
  else {
    forEachBit(bits, (node) => {
      const cell = ofNode[node] as number;
      counts[cell] = (counts[cell] as number) + 1;
    });
  }
  return { cells: match.cells, counts, total };
}

/** Was it there? */
function dropBit(bits: Uint32Array, node: number): boolean {
  const before = bits[node >>> 5] as number;
  bits[node >>> 5] = before & ~(1 << (node & 31));
  return (before & (1 << (node & 31))) !== 0;
}

/** The nodes of the right hardware; the floor is the same for as long as the hardware is. */
export function fitting({ cells, nodes }: Draft["machine"], hardware: Hardware): Uint32Array {
  const known = fittingBits.get(hardware);
  if (known !== undefined) return known;
  const those: number[] = [];
  for (const cell of hardware.cells) {
    for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
      those.push(cells.nodes[at] as number);
    }
  }
  const bits = bitsOf(those, nodes.length);
  fittingBits.set(hardware, bits);
  return bits;
}

const fittingBits = new WeakMap<Hardware, Uint32Array>();

/** Of each cell those that come back last, so that what is free now stays open to backfill; ascending. */
export function takeAt(draft: Draft, job: Job, startsAt: number, picks: readonly Part[]): number[] {
  const { cells } = draft.machine;
  const nodes = [...(job.match.required ?? NONE)];
  const isOpen = opennessAt(draft, job, startsAt);
  for (const { cell, count } of picks) {
    const open: number[] = [];
    for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
      const node = cells.nodes[at] as number;
      if (isOpen(node) && !isNamed(job, node)) open.push(node);
    }
    takeLast(open, count, draft.availableFrom, nodes);
  }
  return ascending(nodes);
}

/** Many nodes, few instants: the instants are put in order, not the nodes. */
function takeLast(open: readonly number[], count: number, from: Float64Array, into: number[]): void {
  if (open.length <= count) {
    for (const node of open) into.push(node);
    return;
  }
  const byInstant = new Map<number, number>();
  for (const node of open) byInstant.set(from[node] as number, (byInstant.get(from[node] as number) ?? 0) + 1);
  let missing = count;
  let last = Number.POSITIVE_INFINITY;
  for (const instant of [...byInstant.keys()].sort((a, b) => b - a)) {
    last = instant;
    if (missing <= (byInstant.get(instant) ?? 0)) break;
    missing -= byInstant.get(instant) ?? 0;
  }
  for (const node of open) {
    const at = from[node] as number;
    if (at < last || (at === last && missing === 0)) continue;
    if (at === last) missing -= 1;
    into.push(node);
  }
}

/** Mostly they are in order already. */
function ascending(nodes: number[]): number[] {
  for (let i = 1; i < nodes.length; i += 1) {
    if ((nodes[i - 1] as number) > (nodes[i] as number)) return nodes.sort((a, b) => a - b);
  }
  return nodes;
}

/** For many nodes at once; valid until asked again about another instant. */
export function opennessAt({ availableFrom, holds }: Draft, job: Job, startsAt: number): (node: number) => boolean {
  const { of: marks, taken } = holds.taken(startsAt, startsAt + job.occupies);
  return (node) => (availableFrom[node] as number) <= startsAt && marks[node] !== taken;
}

const isNamed = ({ match }: Job, node: number): boolean =>
  match.excluded.has(node) || (match.required !== null && match.required.length > 0 && match.required.includes(node));

const NONE: readonly number[] = [];
