// The nodes that match one kind of request, by cell, with the nodes that the request names. The part that depends on
// hardware alone is shared by all requests for the same kinds.

import type { Cells } from "./cells.ts";
import { levelsOf } from "./groups.ts";

export interface MatchingHardware {
  /** By kind: 1 where it matches. */
  readonly kinds: Uint8Array;
  /** Cells of matching kinds, ascending. */
  readonly cells: Int32Array;
  /** Matching nodes, free or not. */
  readonly size: number;
  readonly perGroup: Int32Array;
}

export interface Match {
  readonly hardware: MatchingHardware;
  readonly cells: Int32Array;
  readonly kinds: Uint8Array;
  /** Nodes of these cells that the request excludes by name. */
  readonly excluded: ReadonlySet<number>;
  /** Nodes that every placement must contain, ascending; `null` when one of them is no candidate. */
  readonly required: readonly number[] | null;
  /** Matching nodes, free or not. */
  readonly size: number;
  /** Matching nodes by group, free or not. */
  readonly perGroup: Int32Array;
  /** Matching nodes in the one, two, three, ... largest groups. */
  readonly levels: Float64Array;
}

export function findHardware(cells: Cells, groups: number, kinds: Uint8Array): MatchingHardware {
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

interface NamedNodes {
  readonly excluded: ReadonlySet<number>;
  readonly required: readonly number[] | null;
}

export function createMatch(hardware: MatchingHardware, cells: Cells, { excluded, required }: NamedNodes): Match {
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
