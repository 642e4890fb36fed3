// The objectives of a search. Every objective is a cost, lower is better, so that the search need not know their
// directions.

import type { Summary } from "../result/summary.ts";
import { percent, time } from "../words/amounts.ts";

export const OBJECTIVE_NAMES = [
  "slowdown",
  "mean-wait",
  "p95-wait",
  "p99-wait",
  "jain",
  "share-deviation",
  "utilization",
] as const;
export type ObjectiveName = (typeof OBJECTIVE_NAMES)[number];

export interface Objective {
  readonly title: string;
  cost(summary: Summary): number;
  show(cost: number): string;
}

export const objectives: Readonly<Record<ObjectiveName, Objective>> = {
  slowdown: { title: "mean bounded slowdown", cost: (s) => s.meanBoundedSlowdown, show: (cost) => cost.toFixed(3) },
  "mean-wait": { title: "mean wait", cost: (s) => s.wait.mean, show: time },
  "p95-wait": { title: "p95 wait", cost: (s) => s.wait.p95, show: time },
  "p99-wait": { title: "p99 wait", cost: (s) => s.wait.p99, show: time },
  jain: { title: "Jain's index of slowdowns", cost: (s) => 1 - s.jainSlowdown, show: (cost) => (1 - cost).toFixed(3) },
  "share-deviation": { title: "largest share deviation", cost: (s) => s.shareDeviation, show: percent },
  utilization: { title: "utilization", cost: (s) => 1 - s.utilisation, show: (cost) => percent(1 - cost) },
};
