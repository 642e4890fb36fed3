// How many groups an allocation needs and how many there are, for f4: out of the nodes free at the start of the cycle,
// or out of all matching nodes when too few are free. Computed once per match.

import type { Constraints } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import { intraNodeFitness } from "../fit/node-fitness.ts";
import { groupsFor, levelsOf } from "../machine/groups.ts";
import type { Machine } from "../machine/machine.ts";
import type { Match, MatchingHardware } from "../machine/match.ts";

interface GroupNeed {
  readonly groupsNeeded: number;
  readonly groupsAvailable: number;
  /** The fitness inside the best matching kind of node, in [0, 1]. */
  readonly inside: number;
}

export interface GroupNeeds {
  of(job: Job): GroupNeed;
}

export function createGroupNeeds(machine: Machine): GroupNeeds {
  const freeLevels = new Map<MatchingHardware, Float64Array>();
  const insides = new Map<Match, number>();
  return {
    of({ match, nodesNeeded, input }) {
      const free = freeLevels.get(match.hardware) ?? levelsOf(freeByGroup(machine, match));
      freeLevels.set(match.hardware, free);
      const inside = insides.get(match) ?? bestInside(machine, match, input.constraints);
      insides.set(match, inside);
      const groupsAvailable = match.levels.length;
      const groupsNeeded = groupsFor(free, nodesNeeded) ?? groupsFor(match.levels, nodesNeeded) ?? groupsAvailable;
      return { groupsNeeded, groupsAvailable, inside };
    },
  };
}

function freeByGroup(machine: Machine, { cells }: Match): Int32Array {
  const free = new Int32Array(machine.groups.length);
  for (const cell of cells) {
    const group = machine.cells.groupOf[cell] as number;
    free[group] = (free[group] as number) + (machine.freeIn[cell] as number);
  }
  return free;
}

function bestInside(machine: Machine, match: Match, constraints: Constraints): number {
  let inside = 0;
  for (const [kind, node] of machine.kinds.entries()) {
    if (match.kinds[kind] === 1) inside = Math.max(inside, intraNodeFitness(node, constraints));
  }
  return inside;
}
