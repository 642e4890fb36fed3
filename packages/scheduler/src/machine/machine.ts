// The nodes of a snapshot as flat arrays in order of id, with what changes from cycle to cycle: who is free,
// and when the others come back. The rest, the floor, is taken over from the cycle before where the
// nodes are still the same.

import { byCodeUnits } from "@lattice/core";
import { countBits, putBit } from "../bits.ts";
import type { CycleInput, NodeInput } from "../cycle-types.ts";
import { roomOf } from "../place/room.ts";
import { createSpace, type Space } from "../space.ts";
import { availability } from "./availability.ts";
import { countByCell } from "./cell-bits.ts";
import { type Floor, floorFor } from "./floor.ts";

export interface Machine extends Floor {
  readonly nodes: readonly NodeInput[];
  /** Per group, between 0 and 1; null when nobody measures it. */
  readonly congestion: Float64Array | null;
  /** When each node can be had: `FREE` when it is free, Infinity when nobody knows. */
  readonly availableFrom: Float64Array;
  /** One bit for each free node. */
  readonly free: Uint32Array;
  /** By cell. */
  readonly freeIn: Int32Array;
  readonly freeCount: number;
  /** By kind, where placements are packed: how much is to spare. */
  readonly packing: Int32Array | null;
  /** Inputs outlive the cycle, and so may what is worked out about them. */
  readonly isKept: boolean;
}

export function machineOf(input: CycleInput, space: Space = createSpace(input.nodes.length)): Machine {
  const nodes = input.ground === undefined ? inOrderOfId(input.nodes) : input.nodes;
  const floor = floorFor(nodes, input.reuse);
  const congestion = input.signals?.congestion;
  const { free } = space;
  if (input.ground !== undefined) free.set(input.ground.free);
  else for (let index = 0; index < nodes.length; index += 1) putBit(free, index, (nodes[index] as NodeInput).free);
  const { indexOf, groups, groupOf, conformanceCount, conformanceOf, kinds, kindOf, cells, usableCount } = floor;
  return {
    // One by one: quicker than a copy that grows, and a cycle begins with it.
    indexOf,
    groups,
    groupOf,
    conformanceCount,
    conformanceOf,
    kinds,
    kindOf,
    cells,
    usableCount,
    matches: floor.matches,
    hardware: floor.hardware,
    nodes,
    congestion:
      congestion === undefined ? null : Float64Array.from(floor.groups, (group) => congestion.get(group) ?? 0),
    free,
    freeIn: countByCell(free, cells),
    availableFrom: availability(input, nodes, floor, space.availableFrom),
    freeCount: countBits(free),
    packing: input.packs === true ? roomOf(floor) : null,
    isKept: input.ground !== undefined,
  };
}

function inOrderOfId(nodes: readonly NodeInput[]): readonly NodeInput[] {
  for (let i = 1; i < nodes.length; i += 1) {
    if ((nodes[i - 1] as NodeInput).id >= (nodes[i] as NodeInput).id) {
      return [...nodes].sort((a, b) => byCodeUnits(a.id, b.id));
    }
  }
  return nodes;
}
