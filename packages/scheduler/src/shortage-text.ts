// Says in figures why too few nodes can ever take an allocation: how many nodes fall short of which
// constraint, by the same predicate that decides. A node that falls short twice is counted twice.

import { type Shortfall, shortfalls } from "@lattice/core";
import type { Job } from "./draft.ts";
import type { Machine } from "./machine.ts";

export function missing(machine: Machine, job: Job): string {
  const { constraints, maxNodes } = job.input;
  if (constraints.requiredNodes.length > maxNodes) {
    return `${constraints.requiredNodes.length} nodes are required by name, but at most ${maxNodes} asked for`;
  }
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const node of machine.nodes) {
    if (!node.usable) count(node.notFreeBecause);
    for (const shortfall of shortfalls(constraints, node.id, node)) count(FALLS_SHORT_OF[shortfall.kind]);
  }
  const figures = [...counts].map(([what, nodes]) => `${what}: ${nodes}`).join(", ");
  const fit = `${job.match.nodes.length} of the ${machine.nodes.length} there are suit it`;
  const required = job.match.required === null ? "; not all of its required nodes can" : "";
  return `${fit}${figures === "" ? "" : ` (${figures})`}${required}`;
}

const FALLS_SHORT_OF = {
  excluded: "excluded",
  gpu_type: "other GPU",
  gpu_count: "too few GPUs",
  memory: "too little memory",
  cpu_cores: "too few cores",
  feature: "lacking a feature",
} as const satisfies Record<Shortfall["kind"], string>;
