// Step 2: find candidates. Which nodes satisfy an allocation's hard constraints, by the one
// predicate that `apply` uses too. Free or busy plays no part here; an unusable node (drained,
// down) is no candidate. Allocations that ask for the same share one answer per cycle.

import { type Constraints, fits } from "@lattice/core";
import type { Machine, Match } from "./machine.ts";

export function candidates(machine: Machine, constraints: Constraints): Match {
  const key = constraintKey(constraints);
  const known = machine.matches.get(key);
  if (known !== undefined) return known;
  const match = findCandidates(machine, constraints);
  machine.matches.set(key, match);
  return match;
}

function findCandidates(machine: Machine, constraints: Constraints): Match {
  const byHardware = { ...constraints, excludedNodes: [] };
  const kindFits = machine.kinds.map((kind) => fits(byHardware, kind.id, kind));
  const excluded = new Set(constraints.excludedNodes);
  const nodes: number[] = [];
  for (const [index, node] of machine.nodes.entries()) {
    if (!node.usable || !kindFits[machine.kindOf[index] ?? 0] || excluded.has(node.id)) continue;
    nodes.push(index);
  }
  return { nodes, required: requiredAmong(machine, constraints, nodes) };
}

function requiredAmong(machine: Machine, constraints: Constraints, nodes: readonly number[]): readonly number[] | null {
  if (constraints.requiredNodes.length === 0) return [];
  const matching = new Set(nodes);
  const required = new Set<number>();
  for (const id of constraints.requiredNodes) {
    const index = machine.indexOf.get(id);
    if (index === undefined || !matching.has(index)) return null;
    required.add(index);
  }
  return [...required].sort((a, b) => a - b);
}

function constraintKey(c: Constraints): string {
  const plain = `${c.gpuType}|${c.gpuCount}|${c.memoryBytes}|${c.cpuCores}`;
  if (c.features.length + c.requiredNodes.length + c.excludedNodes.length === 0) return plain;
  return `${plain}|${JSON.stringify([c.features, c.requiredNodes, c.excludedNodes])}`;
}
