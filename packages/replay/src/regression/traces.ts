// The regression traces of the testing chapter as seeded generators: each stresses one guarantee of the scheduler, on a
// small machine.

import { type Random, randomFrom } from "../random.ts";
import { type MadeJob, type MadeTrace, madeNodes } from "./workload.ts";

export const REGRESSION_NAMES = [
  "steady-state",
  "burst",
  "unfair",
  "sensitive-claim",
  "preemption-heavy",
  "empty-to-full",
] as const;
export type RegressionName = (typeof REGRESSION_NAMES)[number];

export interface MakeOptions {
  readonly seed: number;
  readonly jobs: number;
}

/** Enough for every trace to reach its point, few enough for a test. */
export const DEFAULT_JOBS = 600;

export function makeTrace(name: RegressionName, { seed, jobs }: MakeOptions): MadeTrace {
  return makers[name](randomFrom(seed, name), jobs);
}

const NODES = 64;
const HPC = [{ name: "hpc", scheduler: "hpc_backfill" }] as const;

const makers: Readonly<Record<RegressionName, (random: Random, jobs: number) => MadeTrace>> = {
  "steady-state": steadyState,
  burst,
  unfair,
  "sensitive-claim": sensitiveClaim,
  "preemption-heavy": preemptionHeavy,
  "empty-to-full": emptyToFull,
};

/** Simulations, training and services, slightly more than the machine can do. */
function steadyState(random: Random, count: number): MadeTrace {
  const kinds = [
    { tenant: "physics", least: 2, most: 24, run: 3600 },
    { tenant: "learning", least: 1, most: 8, run: 7200 },
    { tenant: "services", least: 1, most: 2, run: 14_400 },
  ] as const;
  const jobs = arrivals(random, count, NODES, 1.1, () => {
    const kind = random.pick(kinds);
    return { tenant: kind.tenant, nodes: random.whole(kind.least, kind.most), run: lasting(random, kind.run) };
  });
  return { nodes: madeNodes(NODES), vclusters: HPC, jobs };
}

/** A quiet day with a burst of more work than the machine does in two hours. */
function burst(random: Random, count: number): MadeTrace {
  const small = () => ({ tenant: random.pick(TENANTS), nodes: random.whole(1, 8), run: lasting(random, 1200) });
  const quiet = arrivals(random, Math.ceil(count / 2), NODES, 0.4, small);
  const middle = quiet[Math.floor(quiet.length / 2)]?.at ?? 0;
  const spike: MadeJob[] = [];
  let work = 0;
  while (spike.length < count / 2 && work < NODES * 7200) {
    const job = small();
    work += job.nodes * job.run;
    spike.push({ ...job, at: middle + random.whole(0, 60), walltime: asked(random, job.run) });
  }
  return { nodes: madeNodes(NODES), vclusters: HPC, jobs: [...quiet, ...spike] };
}

/**
 * One tenant submits ten times as much as each of the others. The profile favours fairness: with the usual weights a
 * long wait outweighs any share.
 */
function unfair(random: Random, count: number): MadeTrace {
  const [greedy, ...others] = TENANTS;
  const jobs = arrivals(random, count, NODES, 1.4, () => ({
    tenant: random.next() < 0.7 ? greedy : random.pick(others),
    nodes: random.whole(1, 4),
    run: lasting(random, 1800),
  }));
  const weights = { priority: 0.15, wait_time: 0.05, fair_share: 0.6, topology: 0.1, conformance: 0.1 };
  const fair = { name: "hpc", scheduler: "hpc_backfill", weights };
  return { nodes: madeNodes(NODES), vclusters: [fair], jobs };
}

/** Sensitive claims on dedicated nodes, among ordinary work that would fill everything. */
function sensitiveClaim(random: Random, count: number): MadeTrace {
  const reserved = 8;
  const ordinary = arrivals(random, count, NODES - reserved, 1.2, () => ({
    tenant: random.pick(TENANTS),
    nodes: random.whole(1, 16),
    run: lasting(random, 2400),
  }));
  const until = ordinary[ordinary.length - 1]?.at ?? 0;
  const claims: MadeJob[] = [];
  // One claim after the other, never more than the dedicated nodes.
  for (let at = 600; at < until; at += 7200) {
    const run = random.whole(1800, 5400);
    const nodes = random.whole(1, reserved);
    claims.push({ at, tenant: "clinic", nodes, run, walltime: 6000, priority: 10, vcluster: "sensitive" });
  }
  return {
    nodes: [...madeNodes(NODES - reserved), ...madeNodes(reserved, NODES - reserved + 1, "sensitive")],
    vclusters: [...HPC, { name: "sensitive", scheduler: "sensitive_reservation" }],
    jobs: [...ordinary, ...claims],
  };
}

/** Long work of a low class occupies the machine, and short work of a high class keeps arriving. */
function preemptionHeavy(random: Random, count: number): MadeTrace {
  const jobs = arrivals(random, count, NODES, 1.1, () =>
    random.next() < 0.5
      ? { tenant: "background", nodes: random.whole(4, 16), run: lasting(random, 5400), priority: 2 }
      : { tenant: "urgent", nodes: random.whole(1, 8), run: lasting(random, 600), priority: 8 },
  );
  return { nodes: madeNodes(NODES), vclusters: HPC, jobs };
}

/** An idle machine, and within a minute more work than fits. */
function emptyToFull(random: Random, count: number): MadeTrace {
  const jobs = Array.from({ length: count }, () => {
    const run = random.whole(1800, 5400);
    const nodes = random.whole(1, 4);
    return { at: random.whole(0, 60), tenant: random.pick(TENANTS), nodes, run, walltime: asked(random, run) };
  });
  return { nodes: madeNodes(NODES), vclusters: HPC, jobs };
}

const TENANTS = ["physics", "learning", "climate", "biology", "chemistry"] as const;

type Work = Omit<MadeJob, "at" | "walltime">;

/** Jobs one after the other, spaced so that they request `load` times the machine. */
function arrivals(random: Random, count: number, nodes: number, load: number, make: () => Work): MadeJob[] {
  let clock = 0;
  return Array.from({ length: count }, () => {
    const job = make();
    clock += random.exponential((job.nodes * job.run) / (nodes * load));
    return { ...job, at: Math.floor(clock), walltime: asked(random, job.run) };
  });
}

/** Around a mean, between a tenth and four times of it. */
const lasting = (random: Random, mean: number): number =>
  Math.round(Math.min(mean * 4, Math.max(mean / 10, random.exponential(mean))));

/** Users request more than they need. */
const asked = (random: Random, run: number): number => Math.ceil((run * (1 + random.next())) / 60) * 60;
