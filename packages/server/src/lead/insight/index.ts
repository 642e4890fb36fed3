// The view into the leader's scheduler for the rest of the server.
export type { MeasuredInputs } from "./inputs.ts";
export { createInsight, type Insight } from "./insight.ts";
export type * from "./question.ts";
