// The record of one cycle: its input, its decision, and the draft of the plan. Explanations and trials read it; a trial
// restores whatever it changes. The next cycle replaces it.

import type { AllocationId } from "@lattice/core";
import { type Job, toJob } from "../fit/job.ts";
import type { CycleCache } from "../input/cycle-cache.ts";
import type { CycleInput, CycleResult, PendingInput } from "../input/cycle-input.ts";
import { cacheWith } from "../machine/hardware-index.ts";
import type { Machine } from "../machine/machine.ts";
import type { ScoreBasis } from "../score/score.ts";
import type { CycleDecision } from "./decision.ts";

export interface CycleRecord {
  readonly input: CycleInput;
  readonly decision: CycleDecision & { readonly basis: ScoreBasis };
  readonly result: CycleResult;
}

/** Returns `null` when the cycle did not order its queue. */
export function recordOf(input: CycleInput, decision: CycleDecision, result: CycleResult): CycleRecord | null {
  const { basis } = decision;
  if (basis === null) return null;
  // The next snapshot updates these in place, so a trial on this record must not read them.
  const { prepared: _prepared, cache: _cache, reported: _reported, ...own } = input;
  return { input: own, decision: { ...decision, basis }, result };
}

/** Returns the input with the hardware index of the cycle, so that trials over the same nodes do not rebuild it. */
export function withHardwareIndex({ input, decision }: CycleRecord): CycleInput {
  const { machine } = decision.draft;
  const cache = cacheByMachine.get(machine) ?? cacheWith(machine.nodes, machine);
  cacheByMachine.set(machine, cache);
  return { ...input, nodes: machine.nodes, cache };
}

const cacheByMachine = new WeakMap<Machine, CycleCache>();

export interface FoundJob {
  /** Its index in the input. */
  readonly at: number;
  readonly job: Job;
}

export function findJob({ input, decision }: CycleRecord, id: AllocationId): FoundJob | null {
  const at = input.pending.findIndex((pending) => pending.id === id);
  const pending = input.pending[at];
  return pending === undefined ? null : { at, job: toJobOf(decision, pending, input) };
}

export const toJobOf = ({ draft }: CycleDecision, pending: PendingInput, { signals }: CycleInput): Job =>
  toJob(draft.machine, pending, signals);
