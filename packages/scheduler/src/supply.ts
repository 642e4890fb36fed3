// What a job could take, by cell, and the nodes themselves once it is decided how many of which cell.
// Now: free nodes that are not promised to anyone before it would end. Later: nodes that are back by
// then and promised to nobody meanwhile. Required nodes are left out of both and checked apart.

import { bitsOf, clearAll, countBits, hasBit, keepOnly, putBit } from "./bits.ts";
import { setBackBy } from "./coming-back.ts";
import type { Draft } from "./draft.ts";
import type { Job } from "./job.ts";
import { countByCell, walkCell } from "./machine/cell-bits.ts";
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
  const isOpen = (node: number): boolean => hasBit(draft.free, node) && !hasBit(draft.holds.before(endsAt), node);
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
  return takeFree(draft, job, picks, draft.holds.before(draft.now + job.occupies));
}

/** The lowest numbers of each cell that are free and not closed. */
export function takeFree(draft: Draft, { match }: Job, picks: readonly Part[], closed: Uint32Array): number[] {
  const { bits, free, machine } = draft;
  bits.set(free);
  clearAll(bits, closed);
  const nodes = dropNamed(bits, match);
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

/** Neither excluded nor required nodes are open to choice; answers the required ones. */
function dropNamed(bits: Uint32Array, { excluded, required }: Job["match"]): number[] {
  for (const node of excluded) putBit(bits, node, false);
  if (required === null) return [];
  for (const node of required) putBit(bits, node, false);
  return [...required];
}

/** Nodes that are back by the instant and promised to nobody while the job would run; valid until asked again. */
export function openBits(draft: Draft, job: Job, startsAt: number): Uint32Array {
  const { bits } = draft;
  setBackBy(draft, startsAt, bits);
  clearAll(bits, draft.holds.within(startsAt, startsAt + job.occupies));
  return bits;
}

/**
 * Nodes that can be had at that instant for as long as the job occupies them; null when they are too few. Leaves
 * them, without those named, to `takeOpen`.
 */
export function openAt(draft: Draft, job: Job, startsAt: number): Supply | null {
  const { match, least } = job;
  const { machine } = draft;
  const bits = openBits(draft, job, startsAt);
  if (match.hardware.size < machine.usableCount) keepOnly(bits, fitting(machine, match.hardware));
  let total = countBits(bits);
  if (total < least) return null;
  if (match.required?.some((node) => !hasBit(bits, node)) === true) return null;
  if (match.excluded.size > 0 || match.required === null || match.required.length > 0) {
    dropNamed(bits, match);
    total = countBits(bits);
  }
  const { cells } = machine;
  const counts = cells.count === 1 ? Int32Array.of(total) : countByCell(bits, cells);
  return { cells: match.cells, counts, total };
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

/**
 * Out of what `openAt` has just left: of each cell those that come back last, so that what is free now stays open
 * to backfill; ascending.
 */
export function takeOpen(draft: Draft, job: Job, picks: readonly Part[]): number[] {
  const nodes = [...(job.match.required ?? NONE)];
  for (const { cell, count } of picks) takeLast(draft, cell, count, nodes);
  return ascending(nodes);
}

/** Many nodes, few instants: the instants are put in order, not the nodes. */
function takeLast(
  { bits, machine: { cells }, availableFrom }: Draft,
  cell: number,
  count: number,
  into: number[],
): void {
  const byInstant = new Map<number, number>();
  let instant = Number.NaN;
  let alike = 0;
  const tally = (): void => void (alike > 0 && byInstant.set(instant, (byInstant.get(instant) ?? 0) + alike));
  walkCell(bits, cells, cell, (node) => {
    const at = availableFrom[node] as number;
    // Nodes side by side mostly come back together.
    if (at !== instant) {
      tally();
      instant = at;
      alike = 0;
    }
    alike += 1;
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

/** Mostly they are in order already. */
function ascending(nodes: number[]): number[] {
  for (let i = 1; i < nodes.length; i += 1) {
    if ((nodes[i - 1] as number) > (nodes[i] as number)) return nodes.sort((a, b) => a - b);
  }
  return nodes;
}

const NONE: readonly number[] = [];
