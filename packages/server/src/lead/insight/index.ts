// The view into the leader's scheduler for the rest of the server.
export { createInsight, type Insight } from "./insight.ts";
export { createMeasuredInputs } from "./measured-inputs.ts";
export type * from "./question.ts";
