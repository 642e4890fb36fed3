// The public surface of the replay.
export { easy, fcfs } from "./policy/classic.ts";
export { lattice } from "./policy/lattice.ts";
export type { OnProgress, Outcome, Policy } from "./policy/policy.ts";
export { POLICIES, type PolicyName, runReplay } from "./program.ts";
export { boundedSlowdown, type Summary, summarise } from "./result/summary.ts";
export { readTrace } from "./trace/read.ts";
export { type Trace, TraceError, type TraceJob } from "./trace/trace.ts";
