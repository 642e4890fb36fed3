// The public surface of the replay.

export { choosePolicy, POLICY_NAMES, type PolicyName } from "./policy/choose.ts";
export { easy, easySjbf, fcfs } from "./policy/classic/classic.ts";
export { latticeOn } from "./policy/lattice/lattice.ts";
export { bestUnit, type LatticeSetup, latticeSetup, type SetupOptions } from "./policy/lattice/setup.ts";
export type { OnProgress, Outcomes, ReplayPolicy as Policy } from "./policy/policy.ts";
export { runReplay } from "./program.ts";
export { runRegression } from "./regression/run.ts";
export { makeTrace, REGRESSION_NAMES, type RegressionName } from "./regression/traces.ts";
export { boundedSlowdown } from "./result/slowdown.ts";
export { type Summary, summarise } from "./result/summary.ts";
export type { Streams } from "./streams.ts";
export { readTrace } from "./trace/read.ts";
export type { Trace } from "./trace/trace.ts";
export { TraceError } from "./trace/trace-error.ts";
export { readProfiles } from "./weights/read.ts";
