// The weighted sum of the nine factors, minus the penalty of soft quotas. The first eight order the queue; conformance
// and the fit between nodes are known only once the nodes are chosen, and are part of the stored score. Terms are rounded to thousandths one by
// one, so that they add up exactly to the displayed total.

import { between, type Factor, type Instant, type Scores, type Weights } from "@lattice/core";
import { BORROWED_PENALTY } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { CycleInput, TenantInput, WaitMeasure } from "../input/cycle-input.ts";
import type { Signals } from "../input/signals.ts";
import { tenantsById } from "../limits/quotas.ts";
import { type Machine, machineOf } from "../machine/machine.ts";
import { backlog, backlogOf } from "./backlog.ts";
import { checkpoint, expectedMinutes } from "./checkpoint.ts";
import { conformance } from "./conformance.ts";
import { dataReadiness } from "./data-readiness.ts";
import { energy } from "./energy.ts";
import { fairShare } from "./fair-share.ts";
import { createInsideFitness, type InsideFitness } from "./inside-fitness.ts";
import { priority } from "./priority.ts";
import { softQuota } from "./soft-quota.ts";
import { placedTopology, queueTopology } from "./topology.ts";
import { referenceWait, waitTime } from "./wait-time.ts";

/** The facts that scoring needs in addition to the job. */
export interface ScoreBasis {
  readonly now: Instant;
  readonly weights: Weights;
  readonly waitMeasure: WaitMeasure;
  readonly tenants: ReadonlyMap<string, TenantInput>;
  readonly machine: Machine;
  readonly signals: Signals;
  /** Equal for all jobs, so computed once. */
  readonly backlog: number;
  readonly insideOf: InsideFitness;
}

/** The factors that order the queue. */
export const ORDERING_FACTORS = [
  "priority",
  "wait_time",
  "fair_share",
  "topology",
  "data_readiness",
  "backlog",
  "energy",
  "checkpoint",
] as const satisfies readonly Factor[];

type OrderingFactor = (typeof ORDERING_FACTORS)[number];

/** Returns the total in thousandths, the sort key. Equal to `scores(...).total`, without creating an object. */
export function totalMilli(basis: ScoreBasis, job: Job): number {
  let sum = 0;
  for (const factor of ORDERING_FACTORS) sum += term(basis, job, factor);
  return sum + softQuotaTerm(basis, job, sum);
}

/** Returns the breakdown that ordered the queue. */
export function scores(basis: ScoreBasis, job: Job): Scores {
  return breakdown(basis, job, null);
}

/** Returns the breakdown stored with a placement, which includes the topology and the conformance of its nodes. */
export function placedScores(basis: ScoreBasis, job: Job, nodes: readonly number[]): Scores {
  return breakdown(basis, job, nodes);
}

function breakdown(basis: ScoreBasis, job: Job, nodes: readonly number[] | null): Scores {
  const parts: Record<string, number> = {};
  let sum = 0;
  for (const factor of ORDERING_FACTORS) {
    const milli =
      nodes !== null && factor === "topology" ? placedTopologyTerm(basis, job, nodes) : term(basis, job, factor);
    parts[factor] = milli;
    sum += milli;
  }
  const penalty = softQuotaTerm(basis, job, sum);
  if (penalty !== 0) parts.soft_quota = penalty;
  let total = sum + penalty;
  if (nodes !== null) {
    const milli = Math.round(basis.weights.conformance * conformanceShare(basis, job, nodes));
    parts.conformance = milli;
    total += milli;
    const borrowed = borrowedTerm(basis, nodes);
    if (borrowed !== 0) parts.borrowed = borrowed;
    total += borrowed;
  }
  parts.total = total;
  return parts;
}

export function scoreBasis(input: CycleInput, machine: Machine = machineOf(input)): ScoreBasis {
  return {
    now: input.now,
    weights: input.weights,
    waitMeasure: input.waitMeasure ?? "elapsed",
    tenants: tenantsById(input),
    machine,
    signals: input.signals ?? {},
    backlog: input.weights.backlog === 0 ? 0 : backlog(backlogOf(input)),
    insideOf: createInsideFitness(machine),
  };
}

/** Avoids negative zero in a breakdown. */
const whole = (milli: number): number => Math.round(milli) + 0;

export function term(basis: ScoreBasis, job: Job, factor: OrderingFactor): number {
  const weight = basis.weights[factor];
  return weight === 0 ? 0 : whole(weight * value(basis, job, factor));
}

function value(basis: ScoreBasis, job: Job, factor: OrderingFactor): number {
  const { signals } = basis;
  const { input } = job;
  switch (factor) {
    case "priority":
      return priority(input.preemptionClass);
    case "wait_time":
      return waitTime(between(input.submittedAt, basis.now), referenceWait(basis.waitMeasure, input.walltime));
    case "fair_share":
      return shareDeficit(basis, job);
    case "topology":
      return queueTopology({ inside: basis.insideOf(job), efficiency: signals.efficiency?.get(input.id) ?? 1 });
    case "data_readiness":
      return dataReadiness(signals.dataReady?.get(input.id));
    case "backlog":
      return basis.backlog;
    case "energy":
      return energy(signals.energyPrice);
    case "checkpoint":
      return checkpoint(
        signals.checkpointMinutes?.get(input.id) ?? expectedMinutes(input.checkpoint, signals.checkpointRates),
      );
  }
}

function placedTopologyTerm(basis: ScoreBasis, job: Job, nodes: readonly number[]): number {
  const { weights, machine, signals } = basis;
  const fit = placedTopology({
    nodes: nodes.length,
    groupsUsed: new Set(nodes.map((node) => machine.cells.groupOf[machine.cells.ofNode[node] as number])).size,
    groupsAvailable: job.match.levels.length,
    inside: basis.insideOf(job),
    efficiency: signals.efficiency?.get(job.input.id) ?? 1,
  });
  return whole(weights.topology * fit);
}

function shareDeficit({ tenants, machine }: ScoreBasis, { input }: Job): number {
  const tenant = tenants.get(input.tenant);
  if (tenant === undefined) return 0;
  const { fairShareMilli, nodesInUse, usedShareMilli } = tenant;
  const { usableCount } = machine;
  return fairShare({
    targetMilli: fairShareMilli,
    used: usedShareMilli === undefined ? nodesInUse / Math.max(1, usableCount) : usedShareMilli / 1000,
  });
}

/** Returns the penalty of soft quotas, never more than the sum. */
export function softQuotaTerm({ tenants, machine }: ScoreBasis, job: Job, sum: number): number {
  const tenant = tenants.get(job.input.tenant);
  if (tenant?.budgetUsedMilli === undefined && tenant?.burstAllowanceMilli === undefined) return 0;
  const share = (tenant.fairShareMilli / 1000) * machine.usableCount;
  const left = softQuota({
    budgetUsed: tenant.budgetUsedMilli === undefined ? undefined : tenant.budgetUsedMilli / 1000,
    ofShare: share <= 0 ? 0 : (tenant.nodesInUse + job.nodesNeeded) / share,
    burstAllowance: tenant.burstAllowanceMilli === undefined ? undefined : tenant.burstAllowanceMilli / 1000,
  });
  return whole(-sum * (1 - left));
}

/** The owner may reclaim borrowed nodes. */
function borrowedTerm({ machine }: ScoreBasis, nodes: readonly number[]): number {
  const borrowed = nodes.filter((node) => machine.nodes[node]?.lender !== undefined).length;
  return borrowed === 0 ? 0 : whole((-BORROWED_PENALTY * borrowed) / nodes.length);
}

function conformanceShare({ machine }: ScoreBasis, job: Job, nodes: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const node of nodes) {
    const value = machine.conformanceOf[node] as number;
    if (value > 0) sizes.set(value, (sizes.get(value) ?? 0) + 1);
  }
  return conformance(sizes.size === 0 ? [1] : sizes.values(), Math.min(nodes.length, job.input.maxNodes));
}
