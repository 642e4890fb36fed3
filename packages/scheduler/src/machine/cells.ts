// Cells: usable nodes of one group, one conformance value and one kind of hardware. The nodes of a cell are
// interchangeable, except for their names and releases. Where more than half of a kind share one fingerprint, all
// others of that kind count as drifted; so does an unknown fingerprint.

import type { NodeInput } from "../input/node-input.ts";

export interface Cells {
  readonly count: number;
  readonly groupOf: Int32Array;
  readonly conformanceOf: Int32Array;
  readonly kindOf: Int32Array;
  /** 1 when drifted or unknown. */
  readonly drifted: Uint8Array;
  /** The cell of each node; -1 for an unusable node. */
  readonly ofNode: Int32Array;
  /** Nodes by cell, ascending; cell c has the nodes from start[c] to start[c + 1]. */
  readonly start: Int32Array;
  readonly nodes: Int32Array;
  /** 1 when the cell is one run of node numbers. */
  readonly isRun: Uint8Array;
}

interface CellSource {
  readonly nodes: readonly NodeInput[];
  readonly groupOf: Int32Array;
  readonly conformanceOf: Int32Array;
  readonly kindOf: Int32Array;
  readonly kindCount: number;
}

export function cellsOf(source: CellSource): Cells {
  const { nodes, groupOf, conformanceOf, kindOf, kindCount } = source;
  const ofNode = new Int32Array(nodes.length).fill(-1);
  const numberOf = new Map<number, number>();
  const first: number[] = [];
  const conformances = conformanceOf.reduce((most, value) => Math.max(most, value), 0) + 1;
  for (let node = 0; node < nodes.length; node += 1) {
    if (!(nodes[node] as NodeInput).usable) continue;
    const group = groupOf[node] as number;
    const key = (group * conformances + (conformanceOf[node] as number)) * kindCount + (kindOf[node] as number);
    let cell = numberOf.get(key);
    if (cell === undefined) {
      cell = first.push(node) - 1;
      numberOf.set(key, cell);
    }
    ofNode[node] = cell;
  }
  const start = offsets(ofNode, first.length);
  const inCells = byCell(ofNode, start);
  const conformanceOfCell = Int32Array.from(first, (node) => conformanceOf[node] as number);
  const kindOfCell = Int32Array.from(first, (node) => kindOf[node] as number);
  return {
    count: first.length,
    groupOf: Int32Array.from(first, (node) => groupOf[node] as number),
    conformanceOf: conformanceOfCell,
    kindOf: kindOfCell,
    drifted: driftedCells({ start, kindOf: kindOfCell, conformanceOf: conformanceOfCell }, kindCount),
    ofNode,
    start,
    nodes: inCells,
    isRun: runs(inCells, start),
  };
}

function offsets(ofNode: Int32Array, count: number): Int32Array {
  const start = new Int32Array(count + 1);
  for (const cell of ofNode) if (cell >= 0) start[cell + 1] = (start[cell + 1] as number) + 1;
  for (let cell = 0; cell < count; cell += 1) start[cell + 1] = (start[cell + 1] as number) + (start[cell] as number);
  return start;
}

function byCell(ofNode: Int32Array, start: Int32Array): Int32Array {
  const next = start.slice();
  const nodes = new Int32Array(start.at(-1) ?? 0);
  for (let node = 0; node < ofNode.length; node += 1) {
    const cell = ofNode[node] as number;
    if (cell < 0) continue;
    nodes[next[cell] as number] = node;
    next[cell] = (next[cell] as number) + 1;
  }
  return nodes;
}

function runs(nodes: Int32Array, start: Int32Array): Uint8Array {
  const isRun = new Uint8Array(start.length - 1);
  for (let cell = 0; cell < isRun.length; cell += 1) {
    const [from, end] = [start[cell] as number, start[cell + 1] as number];
    isRun[cell] = Number((nodes[end - 1] as number) - (nodes[from] as number) === end - from - 1);
  }
  return isRun;
}

type Sized = Pick<Cells, "start" | "kindOf" | "conformanceOf">;

function driftedCells({ start, kindOf, conformanceOf }: Sized, kindCount: number): Uint8Array {
  const sizes = new Map<number, number>();
  const totals = new Int32Array(kindCount);
  const keyOf = (cell: number): number => (conformanceOf[cell] as number) * kindCount + (kindOf[cell] as number);
  for (let cell = 0; cell < kindOf.length; cell += 1) {
    const size = (start[cell + 1] as number) - (start[cell] as number);
    sizes.set(keyOf(cell), (sizes.get(keyOf(cell)) ?? 0) + size);
    totals[kindOf[cell] as number] = (totals[kindOf[cell] as number] as number) + size;
  }
  const majority = new Int32Array(kindCount).fill(-1);
  for (const [key, size] of sizes) {
    const kind = key % kindCount;
    if (2 * size > (totals[kind] as number)) majority[kind] = (key - kind) / kindCount;
  }
  return Uint8Array.from(kindOf, (kind, cell) => {
    const conformance = conformanceOf[cell] as number;
    const expected = majority[kind] as number;
    return conformance === 0 || (expected > 0 && expected !== conformance) ? 1 : 0;
  });
}
