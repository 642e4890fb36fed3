// The public surface of the replay.

export type { Outcomes, ReplayPolicy as Policy } from "./policy/base/policy.ts";
export { choosePolicy } from "./policy/choose.ts";
export { easy, easySjbf, fcfs } from "./policy/classic/classic.ts";
export { bestUnit, latticeSetup, type SetupOptions } from "./policy/lattice/setup.ts";
export { runReplay } from "./program.ts";
export { runRegression } from "./regression/run.ts";
export { makeTrace, REGRESSION_NAMES } from "./regression/traces.ts";
export { type Summary, summarise } from "./result/summary.ts";
export { readTrace } from "./trace/read.ts";
export type { Trace } from "./trace/trace.ts";
export { TraceError } from "./trace/trace-error.ts";
