// The accuracy of start estimates on a small cluster in virtual time: jobs of known length arrive on idle nodes until the
// queue is long, and the first estimate of each is compared with its start.

import { type AllocationId, type Instant, instant, WEIGHT_PROFILES } from "@lattice/core";
import { WALLTIME_GRACE } from "../src/base/bounds.ts";
import { type CycleInput, type PendingInput, recordCycle } from "../src/index.ts";
import { input, job, MINUTE, NOW, node } from "./make.ts";
import { simulate } from "./simulate.ts";

const NODES = ["n1", "n2", "n3", "n4", "n5", "n6"];
const WIDTHS = [1, 1, 2, 1, 3, 1, 6, 2, 1, 4];
const JOBS = 60;
/** An estimate is right within this, or within a tenth of the wait. */
const RIGHT_MS = 30_000;
const RIGHT_SHARE = 0.1;

export interface Accuracy {
  /** Of the jobs that waited. */
  readonly right: number;
  readonly waited: number;
  readonly reservedShown: number;
  readonly reservedLate: number;
  /** The median error, as `why` reports it. */
  readonly medianErrorMs: number;
}

/** Numbers between 0 and 1 that look random, always the same for a seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

interface Arrivals {
  /** The part of its walltime that each job runs. Default: all of it. */
  readonly runShare?: number;
  /** Milliseconds between submissions. Default: all at once. */
  readonly spacing?: number;
}

export function experiment(seed: number, { runShare = 1, spacing = 0 }: Arrivals = {}): Accuracy {
  const next = numbersFrom(seed);
  const lengths = Array.from({ length: JOBS }, () => 2 + Math.floor(next() * 18));
  const jobs = lengths.map((minutes, n): PendingInput => {
    const nodes = WIDTHS[Math.floor(next() * WIDTHS.length)] ?? 1;
    const tenant = n % 2 === 0 ? "physics" : "biology";
    return { ...job(n + 1, { minutes, nodes, tenant }), submittedAt: instant(NOW + n * spacing) };
  });
  const base = input({ nodes: NODES.map((id) => node(id)), weights: WEIGHT_PROFILES.hpc_backfill });
  const first = new Map<AllocationId, Instant>();
  const reserved = new Map<AllocationId, Instant>();
  const runMilli = lengths.map((minutes) => (1000 * runShare * minutes * MINUTE) / (minutes * MINUTE + WALLTIME_GRACE));
  const { startedAt } = simulate({ base, jobs, runMilli, remember: true }, (given: CycleInput, result) => {
    for (const { allocation, startsAt } of result.reservations)
      reserved.set(allocation, instant(Math.min(startsAt, reserved.get(allocation) ?? startsAt)));
    const { estimates } = recordCycle({ ...given, report: "full" }).result;
    for (const [id, at] of estimates) if (!first.has(id)) first.set(id, at);
  });
  return compare(jobs, { first, reserved, startedAt });
}

interface Shown {
  readonly first: ReadonlyMap<AllocationId, number>;
  readonly reserved: ReadonlyMap<AllocationId, number>;
  readonly startedAt: ReadonlyMap<AllocationId, number>;
}

function compare(jobs: readonly PendingInput[], { first, reserved, startedAt }: Shown): Accuracy {
  const errors: number[] = [];
  let right = 0;
  for (const { id, submittedAt } of jobs) {
    const estimate = first.get(id);
    const start = startedAt.get(id) ?? Number.POSITIVE_INFINITY;
    if (estimate === undefined) continue;
    const error = Math.abs(start - estimate);
    errors.push(error);
    if (error <= Math.max(RIGHT_MS, RIGHT_SHARE * (start - submittedAt))) right += 1;
  }
  const late = [...reserved].filter(([id, at]) => (startedAt.get(id) ?? Number.POSITIVE_INFINITY) > at);
  errors.sort((a, b) => a - b);
  return {
    right,
    waited: errors.length,
    reservedShown: reserved.size,
    reservedLate: late.length,
    medianErrorMs: errors[Math.floor(errors.length / 2)] ?? 0,
  };
}
