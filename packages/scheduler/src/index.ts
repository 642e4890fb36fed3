// The public surface of the scheduler.
export { type Worth, type WorthInput, type WorthRates, worthOf } from "./checkpoint/worth.ts";
export { type Concluded, conclude, cycle, reasonsFor } from "./cycle.ts";
export type * from "./cycle-types.ts";
export { type Explanation, explain } from "./explain/explanation.ts";
export type { BusyWith, HeldFor, NodeFigures } from "./explain/node-figures.ts";
export { type SoonerOptions, type Suggestion, sooner, suggestions, TRIAL_BUDGET_MS } from "./explain/sooner.ts";
export type { Ahead, QueueStanding } from "./explain/standing.ts";
export type { Study } from "./explain/study.ts";
export { durationText } from "./explain/words.ts";
export { linkFitness } from "./intra/gpus.ts";
export { memoryLocality } from "./intra/memory.ts";
export { EXPECTED_BACK_SOON, REASONS_LIMIT, REPORT_LIMIT, WALLTIME_GRACE } from "./limits.ts";
export { createReuse, type Reuse } from "./machine/floor.ts";
export { mayMakeRoom } from "./preempt/victims.ts";
export { ORDERING_FACTORS } from "./score/score.ts";
export type * from "./signals.ts";
export { type Beyond, nothingToDo, type Reachable, snapshotFor } from "./snapshot.ts";
