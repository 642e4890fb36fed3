// Whether a job could start on an idle machine.

import { type Constraints, instant } from "@lattice/core";
import { matchFor } from "../fit/candidates.ts";
import { groupLimit, type JobShape } from "../fit/job.ts";
import type { NodeInput } from "../input/node-input.ts";
import { groupsFor } from "../machine/groups.ts";
import { type Machine, machineOf } from "../machine/machine.ts";
import { choose } from "./choose.ts";
import { type Supply, toNodeRequest } from "./node-request.ts";

/** Returns whether the job could start if all nodes were free. */
export function isFeasible(machine: Machine, job: JobShape): boolean {
  const { nodesNeeded, maxGroups, match, input } = job;
  const { required, size, levels } = match;
  if (required === null || size < nodesNeeded || nodesNeeded > input.maxNodes) return false;
  // Without named nodes and one conformance, counts by group decide.
  const needsOneConformance = input.constraints.requireConformance === true && nodesNeeded > 1;
  if (required.length === 0 && !needsOneConformance) return (groupsFor(levels, nodesNeeded) ?? Infinity) <= maxGroups;
  if (!needsOneConformance && maxGroups === Number.POSITIVE_INFINITY) return true;
  const known = feasibility.get(job);
  if (known !== undefined) return known;
  const isChosen = choose(machine, wholeSupply(machine, job), toNodeRequest(machine, job, nodesNeeded)) !== null;
  feasibility.set(job, isChosen);
  return isChosen;
}

/** Remembered: a job is checked when it is tried and again when it is explained. */
const feasibility = new WeakMap<JobShape, boolean>();

function wholeSupply({ cells }: Machine, { match }: JobShape): Supply {
  const counts = new Int32Array(cells.count);
  for (const cell of match.cells) counts[cell] = (cells.start[cell + 1] as number) - (cells.start[cell] as number);
  const named = [...match.excluded, ...(match.required ?? [])];
  for (const node of named) counts[cells.ofNode[node] as number] = (counts[cells.ofNode[node] as number] as number) - 1;
  return { cells: match.cells, counts, total: match.size - (match.required?.length ?? 0) };
}

/** Returns the most nodes that one allocation with these constraints could have if all nodes were free. */
export function largestFeasible(nodes: readonly NodeInput[], constraints: Constraints): number {
  const machine = machineOf({ nodes, releases: [], now: instant(0) });
  const match = matchFor(machine, constraints);
  const isFeasibleWith = (count: number): boolean => {
    const nodesNeeded = Math.max(count, match.required?.length ?? 0);
    const maxGroups = groupLimit(machine, constraints, match, nodesNeeded);
    const input = { constraints, maxNodes: nodesNeeded };
    return isFeasible(machine, { match, nodesNeeded, maxGroups, isInefficient: false, input });
  };
  let low = 0;
  let high = match.size;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (isFeasibleWith(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
