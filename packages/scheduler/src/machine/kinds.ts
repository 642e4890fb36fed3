// Numbers the kinds of hardware. Nodes next to each other are mostly alike, so a node is compared
// with the kinds seen last before a key is made for it.

import type { NodeInput } from "../node-input.ts";

export interface Kinds {
  /** One node of each kind. */
  readonly kinds: readonly NodeInput[];
  readonly kindOf: Int32Array;
}

/** Kinds compared directly; a cluster seldom has more. */
const COMPARED = 4;

export function numberKinds(nodes: readonly NodeInput[]): Kinds {
  const kinds: NodeInput[] = [];
  const numberOf = new Map<string, number>();
  const recent: number[] = [];
  const kindOf = new Int32Array(nodes.length);
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index] as NodeInput;
    const known = recent.find((kind) => alike(kinds[kind] as NodeInput, node));
    kindOf[index] = known ?? byKey(node);
  }
  return { kinds, kindOf };

  function byKey(node: NodeInput): number {
    const key = kindKey(node);
    const number = numberOf.get(key) ?? kinds.push(node) - 1;
    numberOf.set(key, number);
    recent.unshift(number);
    if (recent.length > COMPARED) recent.pop();
    return number;
  }
}

/** On the same place of the same floor, whether free or not. */
export const isSameFloor = (a: NodeInput, b: NodeInput): boolean =>
  a.id === b.id && a.group === b.group && a.conformance === b.conformance && a.usable === b.usable && alike(a, b);

/** Of one kind of hardware. */
export function alike(a: NodeInput, b: NodeInput): boolean {
  return (
    a.lender === b.lender &&
    a.cpuCores === b.cpuCores &&
    a.memoryBytes === b.memoryBytes &&
    a.gpuCount === b.gpuCount &&
    a.gpuType === b.gpuType &&
    a.cxlMemoryBytes === b.cxlMemoryBytes &&
    a.powerWatts === b.powerWatts &&
    a.gpuTopology === b.gpuTopology &&
    a.memoryTopology === b.memoryTopology &&
    sameList(a.features, b.features)
  );
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a === b || (a.length === b.length && a.every((feature, i) => feature === b[i]));

const kindKey = (node: NodeInput): string => {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features, cxlMemoryBytes = 0, powerWatts = 0 } = node;
  const { gpuTopology = null, memoryTopology = null } = node;
  const plain = [
    node.lender ?? "",
    cpuCores,
    memoryBytes,
    gpuType,
    gpuCount,
    cxlMemoryBytes,
    powerWatts,
    ...features,
  ].join("\u0000");
  if (gpuTopology === null && memoryTopology === null) return plain;
  return `${plain}\u0000${JSON.stringify([gpuTopology, memoryTopology])}`;
};
