// Explains with figures why too few nodes match: how many fall short of which constraint, by the predicate that
// decides. A node with two shortfalls is counted twice.

import { shortfalls } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { NodeInput } from "../input/cycle-input.ts";
import type { Machine } from "../machine/machine.ts";
import type { Match } from "../machine/match.ts";
import { EXCLUDED, shortfallText } from "./constraint-texts.ts";

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

/** By kind of hardware, not by node: explaining a queue of infeasible requests must not visit every node for each. */
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
    for (const lacking of shortfalls(byHardware, node.id, node)) count(shortfallText(lacking), ofKind[kind] as number);
  }
  const excluded = new Set(input.constraints.excludedNodes);
  let named = 0;
  for (const id of excluded) if (machine.indexOf.has(id)) named += 1;
  if (named > 0) count(EXCLUDED.text, named);
  ofMachine.set(match, counts);
  return counts;
}

/** Matches may outlive a cycle; the state of its nodes does not. */
const counted = new WeakMap<Machine, Map<Match, ReadonlyMap<string, number>>>();
