// What the rest of the server may use to look into the scheduler.
export { createInsight, type Insight, type InsightParts, type Measured } from "./insight.ts";
export type * from "./question.ts";
