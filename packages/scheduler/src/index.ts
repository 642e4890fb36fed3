// The public surface of the scheduler.
export { cycle, reasonsFor } from "./cycle.ts";
export type * from "./cycle-types.ts";
export { chooseGpus, type GpuChoice, linkFitness } from "./intra/gpus.ts";
export { colocate, memoryLocality, type Spot } from "./intra/memory.ts";
export { EXPECTED_BACK_SOON, REASONS_LIMIT, REPORT_LIMIT, WALLTIME_GRACE } from "./limits.ts";
export { createReuse, type Reuse } from "./machine/floor.ts";
export { mayMakeRoom } from "./preempt/victims.ts";
export type * from "./signals.ts";
export { type Beyond, nothingToDo, type Reachable, snapshotFor } from "./snapshot.ts";
