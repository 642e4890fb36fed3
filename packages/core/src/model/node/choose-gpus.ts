// Chooses which GPUs of a node an allocation gets: the k whose slowest link is the fastest, since a collective is as
// fast as its slowest pair; among equals the set with the shortest total distance to its NICs, then the lowest numbers.
// Slices of a partitioned GPU count as GPUs. The search is exhaustive up to a bound of sets, then grows a set from every
// GPU in turn, which is exact on the regular topologies that exist.

import type { GpuTopology } from "./topology.ts";

/** Sets of GPUs compared one by one: all of them on a node with 16 GPUs. */
const SET_LIMIT = 13_000;

interface GpuChoice {
  /** Ascending. */
  readonly gpus: readonly number[];
  /** The slowest link in the set; Infinity for a single GPU. */
  readonly worstMBps: number;
}

/** Returns `null` when fewer than `count` are free. */
export function chooseGpus(topology: GpuTopology, count: number, free?: ReadonlySet<number>): GpuChoice | null {
  const gpus = topology.gpus.map((gpu) => gpu.index).filter((gpu) => free === undefined || free.has(gpu));
  gpus.sort((a, b) => a - b);
  if (gpus.length < count || count < 1) return null;
  const speed = speeds(topology);
  const sets = binomial(gpus.length, count) <= SET_LIMIT ? allSets(gpus, count) : grownSets(gpus, count, speed);
  let best: GpuChoice | null = null;
  let bestNics = -1;
  for (const set of sets) {
    const worstMBps = worst(set, speed);
    const nics = nearNics(topology, set);
    if (best !== null && (worstMBps < best.worstMBps || (worstMBps === best.worstMBps && nics <= bestNics))) continue;
    best = { gpus: set, worstMBps };
    bestNics = nics;
  }
  return best;
}

type Speed = (a: number, b: number) => number;

/** Returns the bandwidth of the fastest parallel link; 0 without a link. */
function speeds({ links }: GpuTopology): Speed {
  const known = new Map<string, number>();
  const key = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
  for (const { a, b, bandwidthMBps } of links) {
    known.set(key(a, b), Math.max(bandwidthMBps, known.get(key(a, b)) ?? 0));
  }
  return (a, b) => known.get(key(a, b)) ?? 0;
}

function worst(set: readonly number[], speed: Speed): number {
  let slowest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < set.length; i += 1) {
    for (let j = i + 1; j < set.length; j += 1) slowest = Math.min(slowest, speed(set[i] ?? 0, set[j] ?? 0));
  }
  return slowest;
}

/** Distinct NICs next to these GPUs: each adds bandwidth to other nodes. */
function nearNics({ nicAffinity }: GpuTopology, set: readonly number[]): number {
  return new Set(set.flatMap((gpu) => nicAffinity[String(gpu)] ?? [])).size;
}

function* allSets(gpus: readonly number[], count: number, from = 0): Generator<readonly number[]> {
  if (count === 0) {
    yield [];
    return;
  }
  for (let i = from; i <= gpus.length - count; i += 1) {
    for (const rest of allSets(gpus, count - 1, i + 1)) yield [gpus[i] ?? 0, ...rest];
  }
}

/** Grows a set from every GPU: adds the GPU whose slowest link to the set is the fastest. */
function* grownSets(gpus: readonly number[], count: number, speed: Speed): Generator<readonly number[]> {
  for (const first of gpus) {
    const set = [first];
    while (set.length < count) {
      let next = -1;
      let fastest = -1;
      for (const gpu of gpus) {
        if (set.includes(gpu)) continue;
        const slowest = Math.min(...set.map((member) => speed(member, gpu)));
        if (slowest > fastest) [next, fastest] = [gpu, slowest];
      }
      set.push(next);
    }
    yield set.sort((a, b) => a - b);
  }
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= Math.min(k, n - k); i += 1) result = (result * (n - i + 1)) / i;
  return result;
}
