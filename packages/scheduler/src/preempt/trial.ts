// Tries on the draft: could the job begin now if these were stopped? What is changed for a try is put back
// whatever came of it.

import { hasBit } from "../bits.ts";
import type { Draft } from "../draft.ts";
import { askOf, type Job } from "../job.ts";
import { FREE } from "../machine/availability.ts";
import { countInCell } from "../machine/cell-bits.ts";
import { choose } from "../place/choose.ts";
import { nodesAt } from "../reserve.ts";
import { openAt, openBits } from "../supply.ts";
import type { Candidate } from "./filter.ts";

type Freed = Pick<Candidate, "nodes">;

export interface Trial {
  fits(victims: readonly Freed[]): boolean;
  /** The nodes it would begin on, ascending; null when it could not. */
  nodes(victims: readonly Freed[]): readonly number[] | null;
  /** Nodes that it could begin on as things are. */
  free(): number;
  /** Nodes of the victim that the job could use. */
  gain(victim: Freed): number;
}

export function trialOf(draft: Draft, job: Job): Trial {
  const { machine } = draft;
  const ask = askOf(machine, job, job.least);
  return {
    fits: (victims) =>
      without(draft, victims, () => {
        const supply = openAt(draft, job, draft.now);
        return supply !== null && supply.total >= ask.atLeast && choose(machine, supply, ask) !== null;
      }),
    nodes: (victims) => without(draft, victims, () => nodesAt(draft, job, draft.now)),
    free() {
      const open = openBits(draft, job, draft.now);
      let free = 0;
      for (const cell of job.match.cells) free += countInCell(open, machine.cells, cell);
      for (const node of job.match.excluded) if (hasBit(open, node)) free -= 1;
      return free;
    },
    gain: ({ nodes }) => nodes.reduce((sum, node) => sum + Number(isUseful(draft, job, node)), 0),
  };
}

/** As if they were gone already. */
function without<T>(draft: Draft, victims: readonly Freed[], act: () => T): T {
  const { availableFrom, moved } = draft;
  const freed = victims.flatMap(({ nodes }) => nodes).map((node) => ({ node, from: availableFrom[node] as number }));
  const before = moved.length;
  for (const { node } of freed) {
    availableFrom[node] = FREE;
    moved.push(node);
  }
  const done = act();
  for (const { node, from } of freed.reverse()) availableFrom[node] = from;
  moved.length = before;
  return done;
}

function isUseful({ machine: { cells } }: Draft, { match }: Job, node: number): boolean {
  const cell = cells.ofNode[node] as number;
  return cell >= 0 && match.kinds[cells.kindOf[cell] as number] === 1 && !match.excluded.has(node);
}
