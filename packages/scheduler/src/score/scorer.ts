// The sort key of every job in a queue: terms that many jobs share (by queue, class, tenant or match) are computed
// once. Equal to `totalMilli` for each job.

import { between } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { Match } from "../machine/match.ts";
import { type ScoreBasis, softQuotaTerm, term, totalMilli } from "./score.ts";
import { referenceWait, waitTime } from "./wait-time.ts";

type Scorer = (job: Job) => number;

export function createScorer(basis: ScoreBasis): Scorer {
  const { signals, weights } = basis;
  // Signals by job leave nothing to share.
  const isPerJob = signals.efficiency ?? signals.dataReady;
  if (isPerJob !== undefined) return (job) => totalMilli(basis, job);
  const shared = once((job) => {
    const terms = ["data_readiness", "backlog", "energy"] as const;
    return terms.reduce((sum, factor) => sum + term(basis, job, factor), 0);
  });
  const byClass: number[] = [];
  const byTenant = new Map<string, TenantTerms>();
  const byMatch = new Map<Match, number>();
  /** Consecutive jobs are often alike. */
  let lastMatch: Match | null = null;
  let lastTopology = 0;

  const topologyOf = (job: Job): number => {
    if (job.match === lastMatch) return lastTopology;
    lastMatch = job.match;
    lastTopology = byMatch.get(job.match) ?? term(basis, job, "topology");
    byMatch.set(job.match, lastTopology);
    return lastTopology;
  };
  const { checkpointMinutes } = signals;
  /** Few jobs take checkpoints. */
  const checkpointOf = (job: Job): number =>
    job.input.checkpoint === undefined && checkpointMinutes?.has(job.input.id) !== true
      ? 0
      : term(basis, job, "checkpoint");
  /** Consecutive jobs are often of one tenant. */
  let lastTenant = "";
  let lastTerms: TenantTerms | undefined;
  const termsOf = (job: Job): TenantTerms => {
    const { tenant } = job.input;
    if (tenant === lastTenant && lastTerms !== undefined) return lastTerms;
    lastTenant = tenant;
    lastTerms = byTenant.get(tenant) ?? createTerms(job);
    return lastTerms;
  };
  const createTerms = (job: Job): TenantTerms => {
    const { tenant } = job.input;
    const input = basis.tenants.get(tenant);
    const isSoft = input?.budgetUsedMilli !== undefined || input?.burstAllowanceMilli !== undefined;
    const terms = { fairShare: term(basis, job, "fair_share"), isSoft };
    byTenant.set(tenant, terms);
    return terms;
  };
  const topologyWeight = weights.topology;
  const waitWeight = weights.wait_time;
  const { now, waitMeasure } = basis;
  return (job) => {
    const { input } = job;
    const terms = termsOf(job);
    const waited =
      waitWeight === 0
        ? 0
        : Math.round(
            waitWeight * waitTime(between(input.submittedAt, now), referenceWait(waitMeasure, input.walltime)),
          );
    byClass[input.preemptionClass] ??= term(basis, job, "priority");
    const priority = byClass[input.preemptionClass] as number;
    const topology = topologyWeight === 0 ? 0 : topologyOf(job);
    const sum = shared(job) + priority + waited + terms.fairShare + topology + checkpointOf(job);
    return terms.isSoft ? sum + softQuotaTerm(basis, job, sum) : sum;
  };
}

interface TenantTerms {
  readonly fairShare: number;
  /** A soft quota subtracts a penalty that depends on the size of the job. */
  readonly isSoft: boolean;
}

/** Computes the value for the first job and reuses it. */
function once(work: (job: Job) => number): (job: Job) => number {
  let known: number | null = null;
  return (job) => {
    known ??= work(job);
    return known;
  };
}
