// The fitness inside the best matching kind of node, for f4. Computed once per match.

import type { Job } from "../fit/job.ts";
import { intraNodeFitness } from "../fit/node-fitness.ts";
import type { Machine } from "../machine/machine.ts";
import type { Match } from "../machine/match.ts";

/** Returns the fitness of a job's nodes, in [0, 1]. */
export type InsideFitness = (job: Job) => number;

export function createInsideFitness(machine: Machine): InsideFitness {
  const known = new Map<Match, number>();
  return ({ match, input: { constraints } }) => {
    let inside = known.get(match);
    if (inside === undefined) {
      inside = 0;
      for (const [kind, node] of machine.kinds.entries()) {
        if (match.kinds[kind] === 1) inside = Math.max(inside, intraNodeFitness(node, constraints));
      }
      known.set(match, inside);
    }
    return inside;
  };
}
