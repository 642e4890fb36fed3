// A cycle kept for questions: its input, what it decided, and the plan as it stands. Explanations and trials
// read it; a trial puts back whatever it changes. It is worth as much as the moment it was taken at, so whoever
// keeps one replaces it with the next cycle.

import type { AllocationId } from "@lattice/core";
import type { CycleInput, CycleResult, PendingInput } from "../cycle-types.ts";
import type { Decided } from "../decided.ts";
import { type Job, jobOf } from "../job.ts";
import type { Reuse } from "../machine/floor.ts";
import type { Machine } from "../machine/machine.ts";
import type { ScoreBasis } from "../score/score.ts";

export interface Study {
  readonly input: CycleInput;
  readonly decided: Decided & { readonly basis: ScoreBasis };
  readonly result: CycleResult;
}

/** Null when the cycle did not even order its queue: there is nothing to tell from it. */
export function studyOf(input: CycleInput, decided: Decided, result: CycleResult): Study | null {
  const { basis } = decided;
  if (basis === null) return null;
  // What the next snapshot will bring up to date in place is of no use to a trial on this one.
  const { ground: _ground, reuse: _reuse, told: _told, ...own } = input;
  return { input: own, decided: { ...decided, basis }, result };
}

/** The input with the floor that the cycle stood on: trials over the same nodes need not lay it again. */
export function onItsFloor({ input, decided }: Study): CycleInput {
  const { machine } = decided.draft;
  const reuse = floors.get(machine) ?? { last: { nodes: machine.nodes, floor: machine }, space: null };
  floors.set(machine, reuse);
  return { ...input, nodes: machine.nodes, reuse };
}

const floors = new WeakMap<Machine, Reuse>();

export interface Found {
  /** Its place in the input. */
  readonly at: number;
  readonly job: Job;
}

export function findIn({ input, decided }: Study, id: AllocationId): Found | null {
  const at = input.pending.findIndex((pending) => pending.id === id);
  const pending = input.pending[at];
  return pending === undefined ? null : { at, job: jobIn(decided, pending, input) };
}

export const jobIn = ({ draft }: Decided, pending: PendingInput, { signals }: CycleInput): Job =>
  jobOf(draft.machine, pending, signals);
