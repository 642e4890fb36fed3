// The weighted sum over the factors whose inputs the snapshot has: priority, waiting, fair share.
// A factor without inputs is left out of the sum rather than given an invented value. Terms are
// rounded to thousandths one by one, so that they add up exactly to the total people are shown.

import { between, type Factor, type Instant, type Scores, type Weights } from "@lattice/core";
import type { CycleInput, PendingInput, TenantInput } from "../cycle-types.ts";
import { fairShare } from "./fair-share.ts";
import { priority } from "./priority.ts";
import { waitTime } from "./wait-time.ts";

/** What scoring needs to know besides the allocation itself. */
export interface ScoreBasis {
  readonly now: Instant;
  readonly weights: Weights;
  readonly tenants: ReadonlyMap<string, TenantInput>;
  readonly clusterNodes: number;
}

export const SCORED_FACTORS = ["priority", "wait_time", "fair_share"] as const satisfies readonly Factor[];

/** Total in thousandths: the sort key. Equal to `scores(...).total`, without making an object. */
export function totalMilli(basis: ScoreBasis, job: PendingInput): number {
  return term(basis, job, "priority") + term(basis, job, "wait_time") + term(basis, job, "fair_share");
}

/** The breakdown that goes into the log with a placement. */
export function scores(basis: ScoreBasis, job: PendingInput): Scores {
  const breakdown: Record<string, number> = {};
  for (const factor of SCORED_FACTORS) breakdown[factor] = term(basis, job, factor);
  breakdown.total = totalMilli(basis, job);
  return breakdown;
}

export function scoreBasis(input: CycleInput): ScoreBasis {
  return {
    now: input.now,
    weights: input.weights,
    tenants: new Map(input.tenants.map((tenant) => [tenant.id, tenant])),
    clusterNodes: input.nodes.reduce((count, node) => count + (node.usable ? 1 : 0), 0),
  };
}

function term(basis: ScoreBasis, job: PendingInput, factor: (typeof SCORED_FACTORS)[number]): number {
  return Math.round(basis.weights[factor] * value(basis, job, factor));
}

function value(basis: ScoreBasis, job: PendingInput, factor: (typeof SCORED_FACTORS)[number]): number {
  switch (factor) {
    case "priority":
      return priority(job.preemptionClass);
    case "wait_time":
      return waitTime(between(job.submittedAt, basis.now));
    case "fair_share": {
      const tenant = basis.tenants.get(job.tenant);
      if (tenant === undefined) return 0;
      const { fairShareMilli, nodesInUse } = tenant;
      return fairShare({ targetMilli: fairShareMilli, nodesInUse, clusterNodes: basis.clusterNodes });
    }
  }
}
