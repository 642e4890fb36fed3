// The nodes that can take one kind of request, by cell, with the nodes that the request names. What
// depends on the hardware alone is shared by all requests that the same kinds of hardware can take.

import { levelsOf } from "../place/groups.ts";
import type { Cells } from "./cells.ts";

export interface Hardware {
  /** By kind: 1 where it fits. */
  readonly kinds: Uint8Array;
  /** Cells whose nodes fit, ascending. */
  readonly cells: Int32Array;
  /** Nodes that fit, free or not. */
  readonly size: number;
  readonly perGroup: Int32Array;
}

export interface Match {
  readonly hardware: Hardware;
  readonly cells: Int32Array;
  readonly kinds: Uint8Array;
  /** Nodes of these cells that were excluded by name. */
  readonly excluded: ReadonlySet<number>;
  /** Those that every placement must contain, ascending; null when one of them is no candidate. */
  readonly required: readonly number[] | null;
  /** How many nodes match, free or not. */
  readonly size: number;
  /** Nodes that match, free or not, per group. */
  readonly perGroup: Int32Array;
  /** Nodes that match in the one, two, three, ... largest groups. */
  readonly levels: Float64Array;
}

export function hardwareOf(cells: Cells, groups: number, kinds: Uint8Array): Hardware {
  const all: number[] = [];
  const perGroup = new Int32Array(groups);
  let size = 0;
  for (let cell = 0; cell < cells.count; cell += 1) {
    if (kinds[cells.kindOf[cell] as number] !== 1) continue;
    all.push(cell);
    const nodes = (cells.start[cell + 1] as number) - (cells.start[cell] as number);
    const group = cells.groupOf[cell] as number;
    perGroup[group] = (perGroup[group] as number) + nodes;
    size += nodes;
  }
  return {
    kinds,
    cells: Int32Array.from(all),
    size,
    perGroup,
  };
}

interface Named {
  readonly excluded: ReadonlySet<number>;
  readonly required: readonly number[] | null;
}

export function matchOf(hardware: Hardware, cells: Cells, { excluded, required }: Named): Match {
  const { kinds, size, perGroup } = hardware;
  const left = excluded.size === 0 ? perGroup : perGroup.slice();
  for (const node of excluded) {
    const group = cells.groupOf[cells.ofNode[node] as number] as number;
    left[group] = (left[group] as number) - 1;
  }
  return {
    hardware,
    cells: hardware.cells,
    kinds,
    excluded,
    required,
    size: size - excluded.size,
    perGroup: left,
    levels: levelsOf(left),
  };
}
