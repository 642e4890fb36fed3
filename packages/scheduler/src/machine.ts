// The nodes of a snapshot as flat arrays in order of id, with groups, conformance values and
// hardware classes numbered. Everything later steps do per node is an array access. It is built
// once per cycle and, but for the memo of matches, never changes.

import { byCodeUnits, type GroupId, type NodeId } from "@lattice/core";
import type { CycleInput, NodeInput } from "./cycle-types.ts";
import { EXPECTED_BACK_SOON } from "./limits.ts";

export interface Machine {
  readonly nodes: readonly NodeInput[];
  readonly indexOf: ReadonlyMap<NodeId, number>;
  readonly groups: readonly GroupId[];
  readonly groupOf: Int32Array;
  /** Number 0 is the unknown conformance. */
  readonly conformanceCount: number;
  readonly conformanceOf: Int32Array;
  /** One node of each kind of hardware: constraints are checked once per kind. */
  readonly kinds: readonly NodeInput[];
  readonly kindOf: Int32Array;
  /** When each node can be had: `now` when free, Infinity when nobody knows. */
  readonly availableFrom: Float64Array;
  readonly freeCount: number;
  readonly matches: Map<string, Match>;
}

/** The nodes that can take one kind of request. */
export interface Match {
  /** Node numbers, ascending. */
  readonly nodes: readonly number[];
  /** Those that every placement must contain; null when one of them is no candidate. */
  readonly required: readonly number[] | null;
}

export function machineOf(input: CycleInput): Machine {
  const nodes = inOrderOfId(input.nodes);
  const indexOf = new Map<NodeId, number>();
  for (const [index, node] of nodes.entries()) indexOf.set(node.id, index);
  const groups = [...new Set(nodes.map((node) => node.group))].sort(byCodeUnits);
  const conformances = [...new Set(nodes.map((node) => node.conformance)).add("")].sort(byCodeUnits);
  const kinds = numbered(nodes, kindKey);
  return {
    nodes,
    indexOf,
    groups,
    groupOf: numberBy(nodes, groups, (node) => node.group),
    conformanceCount: conformances.length,
    conformanceOf: numberBy(nodes, conformances, (node) => node.conformance),
    kinds: kinds.first,
    kindOf: kinds.numbers,
    availableFrom: availability(input, nodes, indexOf),
    freeCount: nodes.reduce((count, node) => count + (node.free ? 1 : 0), 0),
    matches: new Map(),
  };
}

function inOrderOfId(nodes: readonly NodeInput[]): readonly NodeInput[] {
  const sorted = nodes.every((node, i) => i === 0 || (nodes[i - 1]?.id ?? "") < node.id);
  return sorted ? nodes : [...nodes].sort((a, b) => byCodeUnits(a.id, b.id));
}

function numberBy(nodes: readonly NodeInput[], values: readonly string[], of: (node: NodeInput) => string): Int32Array {
  const numberOf = new Map(values.map((value, number) => [value, number]));
  return Int32Array.from(nodes, (node) => numberOf.get(of(node)) ?? 0);
}

function numbered(nodes: readonly NodeInput[], keyOf: (node: NodeInput) => string) {
  const numberOf = new Map<string, number>();
  const first: NodeInput[] = [];
  const numbers = Int32Array.from(nodes, (node) => {
    const key = keyOf(node);
    const known = numberOf.get(key);
    if (known !== undefined) return known;
    numberOf.set(key, first.length);
    return first.push(node) - 1;
  });
  return { first, numbers };
}

const kindKey = (node: NodeInput): string =>
  [node.cpuCores, node.memoryBytes, node.gpuType, node.gpuCount, ...node.features].join("\u0000");

/** A busy node comes back with the last of its releases; one that is overdue comes back soon. */
function availability(
  input: CycleInput,
  nodes: readonly NodeInput[],
  indexOf: ReadonlyMap<NodeId, number>,
): Float64Array {
  const from = new Float64Array(nodes.length).fill(Number.NEGATIVE_INFINITY);
  for (const release of input.releases) {
    const endsAt = release.endsAt === null ? Number.POSITIVE_INFINITY : release.endsAt;
    const at = endsAt > input.now ? endsAt : input.now + EXPECTED_BACK_SOON;
    for (const id of release.nodes) {
      const index = indexOf.get(id);
      if (index !== undefined) from[index] = Math.max(from[index] ?? 0, at);
    }
  }
  for (const [index, node] of nodes.entries()) {
    if (node.free) from[index] = input.now;
    else if (!node.usable || from[index] === Number.NEGATIVE_INFINITY) from[index] = Number.POSITIVE_INFINITY;
  }
  return from;
}
