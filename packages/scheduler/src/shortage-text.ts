// Says in figures why too few nodes can ever take an allocation: how many nodes fall short of which
// constraint, by the same predicate that decides. A node that falls short twice is counted twice.

import { type Shortfall, shortfalls } from "@lattice/core";
import type { NodeInput } from "./cycle-types.ts";
import type { Job } from "./job.ts";
import type { Machine } from "./machine/machine.ts";
import type { Match } from "./machine/match.ts";

export function missing(machine: Machine, job: Job): string {
  const { constraints, maxNodes } = job.input;
  if (constraints.requiredNodes.length > maxNodes) {
    return `${constraints.requiredNodes.length} nodes are required by name, but at most ${maxNodes} asked for`;
  }
  const counts = figuresOf(machine, job);
  const figures = [...counts].map(([what, nodes]) => `${what}: ${nodes}`).join(", ");
  const fit = `${job.match.size} of the ${machine.nodes.length} there are suit it`;
  const required = job.match.required === null ? "; not all of its required nodes can" : "";
  return `${fit}${figures === "" ? "" : ` (${figures})`}${required}`;
}

/** By kind of hardware, not by node: a queue of misfits must not cost a walk over the machine each. */
function figuresOf(machine: Machine, { match, input }: Job): ReadonlyMap<string, number> {
  const ofMachine = counted.get(machine) ?? new Map<Match, ReadonlyMap<string, number>>();
  counted.set(machine, ofMachine);
  const known = ofMachine.get(match);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  const count = (what: string, by: number): void => void counts.set(what, (counts.get(what) ?? 0) + by);
  const ofKind = new Int32Array(machine.kinds.length);
  for (let node = 0; node < machine.nodes.length; node += 1) {
    const kind = machine.kindOf[node] as number;
    ofKind[kind] = (ofKind[kind] as number) + 1;
    const { usable, notFreeBecause } = machine.nodes[node] as NodeInput;
    if (!usable) count(notFreeBecause, 1);
  }
  const byHardware = { ...input.constraints, excludedNodes: [] };
  for (const [kind, node] of machine.kinds.entries()) {
    for (const lacking of shortfalls(byHardware, node.id, node)) count(whatOf(lacking), ofKind[kind] as number);
  }
  const excluded = new Set(input.constraints.excludedNodes);
  let named = 0;
  for (const id of excluded) if (machine.indexOf.has(id)) named += 1;
  if (named > 0) count(FALLS_SHORT_OF.excluded, named);
  ofMachine.set(match, counts);
  return counts;
}

/** Matches may outlive a cycle; what its nodes are doing does not. */
const counted = new WeakMap<Machine, Map<Match, ReadonlyMap<string, number>>>();

const whatOf = (lacking: Shortfall): string =>
  lacking.kind === "feature" ? `without the feature ${lacking.wanted}` : FALLS_SHORT_OF[lacking.kind];

const FALLS_SHORT_OF = {
  excluded: "excluded",
  gpu_type: "other GPU",
  gpu_count: "too few GPUs",
  memory: "too little memory",
  unified_memory: "no unified memory",
  cpu_cores: "too few cores",
  feature: "lacking a feature",
} as const satisfies Record<Shortfall["kind"], string>;
