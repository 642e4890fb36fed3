// The sort key of every job in a queue, quickly: terms that many jobs share (of the whole queue, of a
// class, of a tenant, of a kind of request) are worked out once. Equal to `totalMilli`, job by job.

import { between } from "@lattice/core";
import type { Job } from "../job.ts";
import type { Match } from "../machine/match.ts";
import { type ScoreBasis, softQuotaTerm, term, totalMilli } from "./score.ts";
import { referenceWait, waitTime } from "./wait-time.ts";

export type Scorer = (job: Job) => number;

export function createScorer(basis: ScoreBasis): Scorer {
  const { signals, weights } = basis;
  // What is told job by job is nothing to share.
  const isPerJob = signals.efficiency ?? signals.dataReady;
  if (isPerJob !== undefined) return (job) => totalMilli(basis, job);
  const shared = once((job) => {
    const terms = ["data_readiness", "backlog", "energy"] as const;
    return terms.reduce((sum, factor) => sum + term(basis, job, factor), 0);
  });
  const byClass: number[] = [];
  const byTenant = new Map<string, Standing>();
  const byMatch = new Map<Match, number[]>();
  let lastMatch: Match | null = null;
  let lastTopology: number[] = [];

  const topologyOf = (job: Job): number => {
    if (job.match !== lastMatch) {
      lastMatch = job.match;
      lastTopology = byMatch.get(job.match) ?? [];
      byMatch.set(job.match, lastTopology);
    }
    const known = lastTopology[job.least];
    if (known !== undefined) return known;
    const milli = term(basis, job, "topology");
    lastTopology[job.least] = milli;
    return milli;
  };
  const { checkpointMinutes } = signals;
  /** Few take any. */
  const checkpointOf = (job: Job): number =>
    job.input.checkpoint === undefined && checkpointMinutes?.has(job.input.id) !== true
      ? 0
      : term(basis, job, "checkpoint");
  /** Those that follow each other are often of one tenant. */
  let lastTenant = "";
  let lastStanding: Standing | undefined;
  const standingOf = (job: Job): Standing => {
    const { tenant } = job.input;
    if (tenant === lastTenant && lastStanding !== undefined) return lastStanding;
    lastTenant = tenant;
    lastStanding = byTenant.get(tenant) ?? makeStanding(job);
    return lastStanding;
  };
  const makeStanding = (job: Job): Standing => {
    const { tenant } = job.input;
    const input = basis.tenants.get(tenant);
    const isSoft = input?.budgetUsedMilli !== undefined || input?.burstAllowanceMilli !== undefined;
    const standing = { fairShare: term(basis, job, "fair_share"), isSoft };
    byTenant.set(tenant, standing);
    return standing;
  };
  const topologyWeight = weights.topology;
  const waitWeight = weights.wait_time;
  const { now, waitMeasure } = basis;
  return (job) => {
    const { input } = job;
    const standing = standingOf(job);
    const waited =
      waitWeight === 0
        ? 0
        : Math.round(
            waitWeight * waitTime(between(input.submittedAt, now), referenceWait(waitMeasure, input.walltime)),
          );
    byClass[input.preemptionClass] ??= term(basis, job, "priority");
    const priority = byClass[input.preemptionClass] as number;
    const topology = topologyWeight === 0 ? 0 : topologyOf(job);
    const sum = shared(job) + priority + waited + standing.fairShare + topology + checkpointOf(job);
    return standing.isSoft ? sum + softQuotaTerm(basis, job, sum) : sum;
  };
}

interface Standing {
  readonly fairShare: number;
  /** Soft quotas take something away, by how large the job is. */
  readonly isSoft: boolean;
}

/** The first answer serves all. */
function once(work: (job: Job) => number): (job: Job) => number {
  let known: number | null = null;
  return (job) => {
    known ??= work(job);
    return known;
  };
}
