// The search: the known profiles first, then generations, partly random, partly crossovers of the front. A generation is
// complete before any of it is tried, and results are taken in its order, so that the result depends on the seed alone
// and not on the workers.

import { type Random, randomFrom } from "../random.ts";
import type { Summary } from "../result/summary.ts";
import type { Profile } from "../weights/profile.ts";
import { crossover, keyOf, knownCandidates, randomCandidate, type WeightCandidate } from "./candidate.ts";
import { frontOf } from "./front.ts";
import type { Objective } from "./objectives.ts";

export interface Trial {
  readonly candidate: WeightCandidate;
  readonly summary: Summary;
  readonly costs: readonly [number, number];
}

interface SearchOptions {
  readonly start: Profile;
  readonly objective: Objective;
  readonly against: Objective;
  readonly budget: number;
  readonly seed: number;
  /** Replays all of them; returns results in their order. */
  readonly tryAll: (candidates: readonly WeightCandidate[]) => Promise<readonly Summary[]>;
}

const GENERATION = 8;
/** The random part of each generation. */
const FRESH = 0.25;
/** The search ends after this many draws of known candidates. */
const MAX_REPEATS = 1000;

export async function search(options: SearchOptions): Promise<readonly Trial[]> {
  const { budget, objective, against } = options;
  const random = randomFrom(options.seed, "tune");
  const seen = new Set<string>();
  const trials: Trial[] = [];
  let generation = unseen(knownCandidates(options.start), seen).slice(0, budget);
  while (generation.length > 0) {
    const summaries = await options.tryAll(generation);
    for (const [i, candidate] of generation.entries()) {
      const summary = summaries[i];
      if (summary === undefined) throw new Error(`${candidate.name} was not tried`);
      trials.push({ candidate, summary, costs: [objective.cost(summary), against.cost(summary)] });
    }
    generation = nextGeneration(random, trials, seen, Math.min(GENERATION, budget - trials.length));
  }
  return trials;
}

function nextGeneration(random: Random, trials: readonly Trial[], seen: Set<string>, size: number): WeightCandidate[] {
  const parents = frontOf(trials).map((trial) => trial.candidate);
  const made: WeightCandidate[] = [];
  for (let repeats = 0; made.length < size && repeats < MAX_REPEATS; repeats += 1) {
    const number = trials.length + made.length + 1;
    const candidate = random.next() < FRESH ? randomCandidate(random, number) : crossover(random, parents, number);
    made.push(...unseen([candidate], seen));
  }
  return made;
}

function unseen(candidates: readonly WeightCandidate[], seen: Set<string>): WeightCandidate[] {
  return candidates.filter((candidate) => {
    const key = keyOf(candidate);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
