// The public surface of the scheduler.

export { REASONS_LIMIT, WALLTIME_GRACE } from "./base/bounds.ts";
export { mayPlaceBehind, placementsBehind } from "./behind/placements-behind.ts";
export { walltimeLead } from "./checkpoint/walltime-lead.ts";
export { type Worth, type WorthInput, type WorthRates, worthOf } from "./checkpoint/worth.ts";
export { cycle } from "./cycle.ts";
export type { CycleRecord } from "./explain/cycle-record.ts";
export { type Explanation, explain } from "./explain/explanation.ts";
export {
  type Suggestion,
  suggestions,
  TRIAL_BUDGET_MS,
  tryVariants,
} from "./explain/suggestions.ts";
export { durationText } from "./explain/text.ts";
export { type CycleCache, createCycleCache } from "./input/cycle-cache.ts";
export type * from "./input/cycle-input.ts";
export type * from "./input/signals.ts";
export { largestFeasible } from "./place/feasibility.ts";
export { reasonsFor, recordCycle } from "./recorded-cycle.ts";
export { ORDERING_FACTORS } from "./score/score.ts";
export { mayPreempt } from "./snapshot/preemption-inputs.ts";
export { type ExternalInputs, hasNothingToDo, snapshotFor } from "./snapshot/snapshot.ts";
