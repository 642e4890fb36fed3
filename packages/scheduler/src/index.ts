// The public surface of the scheduler.
export { cycle, reasonsFor } from "./cycle.ts";
export type * from "./cycle-types.ts";
export { EXPECTED_BACK_SOON, REASONS_LIMIT, WALLTIME_GRACE } from "./limits.ts";
export { nothingToDo, type Reachable, snapshotFor } from "./snapshot.ts";
