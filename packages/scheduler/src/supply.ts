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
  const isNamed = (node: number): boolean => match.excluded.has(node) || (match.required ?? NONE).includes(node);
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
  return nodes.sort((a, b) => a - b);
}

/** Nodes that can be had at that instant for as long as the job occupies them; null when a required one cannot. */
export function openAt(draft: Draft, job: Job, startsAt: number): Supply | null {
  const { match } = job;
  const { cells } = draft.machine;
  const counts = new Int32Array(cells.count);
  let total = 0;
  for (const node of match.required ?? NONE) if (!canBeHad(draft, job, startsAt, node)) return null;
  for (const cell of match.cells) {
    let open = 0;
    for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
      const node = cells.nodes[at] as number;
      if (canBeHad(draft, job, startsAt, node) && !isNamed(job, node)) open += 1;
    }
    counts[cell] = open;
    total += open;
  }
  return { cells: match.cells, counts, total };
}

/** Of each cell those that come back last, so that what is free now stays open to backfill; ascending. */
export function takeAt(draft: Draft, job: Job, startsAt: number, picks: readonly Part[]): number[] {
  const { cells } = draft.machine;
  const from = draft.availableFrom;
  const nodes = [...(job.match.required ?? NONE)];
  for (const { cell, count } of picks) {
    const open: number[] = [];
    for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
      const node = cells.nodes[at] as number;
      if (canBeHad(draft, job, startsAt, node) && !isNamed(job, node)) open.push(node);
    }
    if (open.length > count) open.sort((a, b) => (from[b] as number) - (from[a] as number) || a - b);
    for (const node of open.slice(0, count)) nodes.push(node);
  }
  return nodes.sort((a, b) => a - b);
}

export const canBeHad = (draft: Draft, job: Job, startsAt: number, node: number): boolean =>
  (draft.availableFrom[node] as number) <= startsAt && draft.holds.isOpen(node, startsAt, startsAt + job.occupies);

const isNamed = ({ match }: Job, node: number): boolean =>
  match.excluded.has(node) || (match.required !== null && match.required.length > 0 && match.required.includes(node));

const NONE: readonly number[] = [];
