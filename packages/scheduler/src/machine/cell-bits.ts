// The nodes of a cell within a set of nodes. Most cells are one run of node numbers, which is read 32 at a time.

import { countBetween, hasBit, walkBetween } from "../base/bits.ts";
import type { Cells } from "./cells.ts";

/** Counts the nodes of the cell in the set. */
export function countInCell(bits: Uint32Array, cells: Cells, cell: number): number {
  const start = cells.start[cell] as number;
  const end = cells.start[cell + 1] as number;
  if (cells.isRun[cell] === 1) {
    return countBetween(bits, cells.nodes[start] as number, cells.nodes[end - 1] as number);
  }
  let count = 0;
  for (let at = start; at < end; at += 1) if (hasBit(bits, cells.nodes[at] as number)) count += 1;
  return count;
}

/** Visits the nodes of the cell in the set, lowest first, until `visit` returns false. */
export function walkCell(bits: Uint32Array, cells: Cells, cell: number, visit: (node: number) => boolean): void {
  const start = cells.start[cell] as number;
  const end = cells.start[cell + 1] as number;
  if (cells.isRun[cell] === 1) {
    walkBetween(bits, cells.nodes[start] as number, cells.nodes[end - 1] as number, visit);
    return;
  }
  for (let at = start; at < end; at += 1) {
    const node = cells.nodes[at] as number;
    if (hasBit(bits, node) && !visit(node)) return;
  }
}

export function countByCell(bits: Uint32Array, cells: Cells): Int32Array {
  const counts = new Int32Array(cells.count);
  for (let cell = 0; cell < cells.count; cell += 1) counts[cell] = countInCell(bits, cells, cell);
  return counts;
}

/** Counts the nodes of these cells alone; writes into `counts` and returns it. */
export function countCells(bits: Uint32Array, cells: Cells, only: Int32Array, counts: Int32Array): Int32Array {
  for (let i = 0; i < only.length; i += 1) {
    const cell = only[i] as number;
    counts[cell] = countInCell(bits, cells, cell);
  }
  return counts;
}
