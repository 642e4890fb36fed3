// The view into the leader's scheduler for the rest of the server.
export {
  createInsight,
  type Insight,
  type InsightOptions as InsightParts,
  type MeasuredInputs as Measured,
} from "./insight.ts";
export type * from "./question.ts";
