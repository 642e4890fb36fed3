// Trials on the draft: could the job start now if these victims were stopped? Every trial restores what it changed.

import { hasBit } from "../base/bits.ts";
import type { Job } from "../fit/job.ts";
import { FREE } from "../machine/availability.ts";
import { countInCell } from "../machine/cell-bits.ts";
import { choose } from "../place/choose.ts";
import { toNodeRequest } from "../place/node-request.ts";
import { availableBits, supplyAt } from "../place/supply.ts";
import type { Draft } from "../plan/draft.ts";
import { nodesAt } from "../reserve/reserve.ts";
import type { VictimCandidate } from "./filter.ts";

type Freed = Pick<VictimCandidate, "nodes">;

export interface PreemptionTrial {
  fits(victims: readonly Freed[]): boolean;
  /** Returns the nodes it would start on, ascending, or `null`. */
  nodes(victims: readonly Freed[]): readonly number[] | null;
  /** Counts the nodes it could start on without victims. */
  free(): number;
  /** Counts the nodes of the victim that the job could use. */
  gain(victim: Freed): number;
}

export function createPreemptionTrial(draft: Draft, job: Job): PreemptionTrial {
  const { machine } = draft;
  const ask = toNodeRequest(machine, job, job.nodesNeeded);
  return {
    fits: (victims) =>
      withVictimsGone(draft, victims, () => {
        const supply = supplyAt(draft, job, draft.now);
        return supply !== null && supply.total >= ask.atLeast && choose(machine, supply, ask) !== null;
      }),
    nodes: (victims) => withVictimsGone(draft, victims, () => nodesAt(draft, job, draft.now)),
    free() {
      const open = availableBits(draft, job, draft.now);
      let free = 0;
      for (const cell of job.match.cells) free += countInCell(open, machine.cells, cell);
      for (const node of job.match.excluded) if (hasBit(open, node)) free -= 1;
      return free;
    },
    gain: ({ nodes }) => nodes.reduce((sum, node) => sum + Number(isUseful(draft, job, node)), 0),
  };
}

/** Runs `act` as if the victims had ended. */
function withVictimsGone<T>(draft: Draft, victims: readonly Freed[], act: () => T): T {
  const { availableFrom, changedNodes } = draft;
  const freed = victims.flatMap(({ nodes }) => nodes).map((node) => ({ node, from: availableFrom[node] as number }));
  const before = changedNodes.length;
  for (const { node } of freed) {
    availableFrom[node] = FREE;
    changedNodes.push(node);
  }
  const done = act();
  for (const { node, from } of freed.reverse()) availableFrom[node] = from;
  changedNodes.length = before;
  return done;
}

function isUseful({ machine: { cells } }: Draft, { match }: Job, node: number): boolean {
  const cell = cells.ofNode[node] as number;
  return cell >= 0 && match.kinds[cells.kindOf[cell] as number] === 1 && !match.excluded.has(node);
}
