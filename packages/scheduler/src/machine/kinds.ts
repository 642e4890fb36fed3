// Numbers the kinds of hardware. Neighbouring nodes are mostly equal, so a node is compared with the most recent kinds
// before its key is built.

import type { NodeInput } from "../input/node-input.ts";

interface Kinds {
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
    const known = recent.find((kind) => isSameKind(kinds[kind] as NodeInput, node));
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

/** Whether two records describe the same node with the same hardware, free or not. */
export const isSameHardware = (a: NodeInput, b: NodeInput): boolean =>
  a.id === b.id && a.group === b.group && a.conformance === b.conformance && a.usable === b.usable && isSameKind(a, b);

/** Whether two nodes are of one kind of hardware. */
function isSameKind(a: NodeInput, b: NodeInput): boolean {
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
    isSameList(a.features, b.features)
  );
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
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
