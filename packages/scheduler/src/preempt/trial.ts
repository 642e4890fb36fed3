// Tries on the draft: could the job begin now if these were stopped? What is changed for a try is put back
// whatever came of it.

import type { Draft } from "../draft.ts";
import type { Job } from "../job.ts";
import { numbersOf as numbersIn } from "../promises.ts";
import { nodesAt } from "../reserve.ts";
import { canBeHad } from "../supply.ts";
import type { VictimInput } from "./preempt-types.ts";

export interface Trial {
  /** The nodes it would begin on, ascending; null when it could not. */
  nodes(victims: readonly VictimInput[]): readonly number[] | null;
  /** Nodes that it could begin on as things are. */
  free(): number;
  /** Nodes of the victim that the job could use. */
  gain(victim: VictimInput): number;
}

export function trialOf(draft: Draft, job: Job): Trial {
  const { machine } = draft;
  const numbersOf = ({ nodes }: VictimInput): readonly number[] => numbersIn(draft, nodes);
  return {
    nodes(victims) {
      const freed = victims.flatMap(numbersOf).map((node) => ({ node, from: draft.availableFrom[node] as number }));
      for (const { node } of freed) draft.availableFrom[node] = draft.now;
      const found = nodesAt(draft, job, draft.now);
      for (const { node, from } of freed.reverse()) draft.availableFrom[node] = from;
      return found;
    },
    free() {
      const { cells } = machine;
      let free = 0;
      for (const cell of job.match.cells) {
        for (let at = cells.start[cell] as number; at < (cells.start[cell + 1] as number); at += 1) {
          const node = cells.nodes[at] as number;
          if (canBeHad(draft, job, draft.now, node) && !job.match.excluded.has(node)) free += 1;
        }
      }
      return free;
    },
    gain: (victim) => numbersOf(victim).filter((node) => isUseful(draft, job, node)).length,
  };
}

function isUseful({ machine: { cells } }: Draft, { match }: Job, node: number): boolean {
  const cell = cells.ofNode[node] as number;
  return cell >= 0 && match.kinds[cells.kindOf[cell] as number] === 1 && !match.excluded.has(node);
}
