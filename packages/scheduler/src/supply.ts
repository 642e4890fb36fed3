// What a job could take, by cell, and the nodes themselves once it is decided how many of which cell.
// Now: free nodes that are not promised to anyone before it would end. Later: nodes that are back by
// then and promised to nobody meanwhile. Required nodes are left out of both and checked apart.

import type { Draft } from "./draft.ts";
import { isFree } from "./draft.ts";
import type { Job } from "./job.ts";
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

/** Nodes that can be had at that instant for as long as the job occupies them; null when a required one cannot. */
export function openAt(draft: Draft, job: Job, startsAt: number): Supply | null {
  const { match } = job;
  const { cells } = draft.machine;
  const counts = new Int32Array(cells.count);
  const { availableFrom } = draft;
  const { of: marks, taken } = draft.holds.taken(startsAt, startsAt + job.occupies);
  const isOpen = (node: number): boolean => (availableFrom[node] as number) <= startsAt && marks[node] !== taken;
  let total = 0;
  for (const node of match.required ?? NONE) if (!isOpen(node)) return null;
  const hasNamed = match.excluded.size > 0 || (match.required ?? NONE).length > 0;
  for (const cell of match.cells) {
    let open = 0;
    const end = cells.start[cell + 1] as number;
    for (let at = cells.start[cell] as number; at < end; at += 1) {
      const node = cells.nodes[at] as number;
      // Written out, since this looks at every node.
      if ((availableFrom[node] as number) > startsAt || marks[node] === taken) continue;
      if (!hasNamed || !isNamed(job, node)) open += 1;
    }
    counts[cell] = open;
    total += open;
  }
  return { cells: match.cells, counts, total };
}

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
