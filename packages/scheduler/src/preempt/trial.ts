// Tries on the draft: could the job begin now if these were stopped? What is changed for a try is put back
// whatever came of it.

import type { Draft } from "../draft.ts";
import { askOf, type Job } from "../job.ts";
import { choose } from "../place/choose.ts";
import { nodesAt } from "../reserve.ts";
import { openAt, opennessAt } from "../supply.ts";
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
      const { cells } = machine;
      let free = 0;
      const isOpen = opennessAt(draft, job, draft.now);
      for (const cell of job.match.cells) {
        for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
          const node = cells.nodes[at] as number;
          if (isOpen(node) && !job.match.excluded.has(node)) free += 1;
        }
      }
      return free;
    },
    gain: ({ nodes }) => nodes.reduce((sum, node) => sum + Number(isUseful(draft, job, node)), 0),
  };
}

/** As if they were gone already. */
function without<T>(draft: Draft, victims: readonly Freed[], act: () => T): T {
  const { availableFrom, now } = draft;
  const freed = victims.flatMap(({ nodes }) => nodes).map((node) => ({ node, from: availableFrom[node] as number }));
  for (const { node } of freed) availableFrom[node] = now;
  const done = act();
  for (const { node, from } of freed.reverse()) availableFrom[node] = from;
  return done;
}

function isUseful({ machine: { cells } }: Draft, { match }: Job, node: number): boolean {
  const cell = cells.ofNode[node] as number;
  return cell >= 0 && match.kinds[cells.kindOf[cell] as number] === 1 && !match.excluded.has(node);
}
