// The nodes of a snapshot as flat arrays sorted by id, with the state that changes from cycle to cycle: which are free,
// and when the others are released. The hardware index is shared with the previous cycle while the nodes stay the same.

import { byCodeUnits } from "@lattice/core";
import { countBits, putBit } from "../base/bits.ts";
import type { CycleInput, NodeInput } from "../input/cycle-input.ts";
import { availability } from "./availability.ts";
import { countByCell } from "./cell-bits.ts";
import { type HardwareIndex, hardwareIndexFor } from "./hardware-index.ts";
import { rankKinds } from "./kind-rank.ts";
import { createPlanBuffers, type PlanBuffers } from "./plan-buffers.ts";

export interface Machine extends HardwareIndex {
  readonly nodes: readonly NodeInput[];
  /** By group, between 0 and 1; `null` when it is not measured. */
  readonly congestion: Float64Array | null;
  /** When each node is available: `FREE` when free, Infinity when unknown. */
  readonly availableFrom: Float64Array;
  /** One bit for each free node. */
  readonly free: Uint32Array;
  /** By cell. */
  readonly freeIn: Int32Array;
  readonly freeCount: number;
  /** By kind, higher has more capacity; `null` when the vCluster does not pack. */
  readonly kindRanks: Int32Array | null;
  /** The inputs outlive the cycle, so jobs derived from them may too. */
  readonly inputsOutliveCycle: boolean;
}

type MachineInput = Pick<CycleInput, "nodes" | "releases" | "now" | "prepared" | "cache" | "signals" | "packsNodes">;

export function machineOf(input: MachineInput, buffers: PlanBuffers = createPlanBuffers(input.nodes.length)): Machine {
  const nodes = input.prepared === undefined ? sortById(input.nodes) : input.nodes;
  const index = hardwareIndexFor(nodes, input.cache);
  const congestion = input.signals?.congestion;
  const { free } = buffers;
  if (input.prepared !== undefined) free.set(input.prepared.free);
  else for (let index = 0; index < nodes.length; index += 1) putBit(free, index, (nodes[index] as NodeInput).free);
  const { indexOf, groups, groupOf, conformanceCount, conformanceOf, kinds, kindOf, cells, usableCount } = index;
  return {
    // Field by field: faster than a spread, and every cycle starts with it.
    indexOf,
    groups,
    groupOf,
    conformanceCount,
    conformanceOf,
    kinds,
    kindOf,
    cells,
    usableCount,
    matches: index.matches,
    matchingHardware: index.matchingHardware,
    nodes,
    congestion:
      congestion === undefined ? null : Float64Array.from(index.groups, (group) => congestion.get(group) ?? 0),
    free,
    freeIn: countByCell(free, cells),
    availableFrom: availability(input, nodes, index, buffers.availableFrom),
    freeCount: countBits(free),
    kindRanks: input.packsNodes === true ? rankKinds(index) : null,
    inputsOutliveCycle: input.prepared !== undefined,
  };
}

function sortById(nodes: readonly NodeInput[]): readonly NodeInput[] {
  for (let i = 1; i < nodes.length; i += 1) {
    if ((nodes[i - 1] as NodeInput).id >= (nodes[i] as NodeInput).id) {
      return [...nodes].sort((a, b) => byCodeUnits(a.id, b.id));
    }
  }
  return nodes;
}
