// The search: the known profiles first, then generations, part drawn at random, part bred from the front
// so far. A generation is made whole before any of it is tried and taken in its order, so that the result
// depends on the seed alone, never on how many workers there are or which is faster.

import { type Random, randomFrom } from "../random.ts";
import type { Summary } from "../result/summary.ts";
import type { Profile } from "../weights/profile.ts";
import { bred, type Candidate, drawn, keyOf, knownCandidates } from "./candidate.ts";
import { frontOf } from "./front.ts";
import type { Objective } from "./objectives.ts";

export interface Trial {
  readonly candidate: Candidate;
  readonly summary: Summary;
  readonly costs: readonly [number, number];
}

export interface SearchOptions {
  readonly start: Profile;
  readonly objective: Objective;
  readonly against: Objective;
  readonly budget: number;
  readonly seed: number;
  /** Replays all of them; answers in their order. */
  readonly tryAll: (candidates: readonly Candidate[]) => Promise<readonly Summary[]>;
}

const GENERATION = 8;
/** Part of each generation that owes nothing to what was found before. */
const FRESH = 0.25;
/** Draws that only repeat what was tried: then the search is over. */
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

function nextGeneration(random: Random, trials: readonly Trial[], seen: Set<string>, size: number): Candidate[] {
  const parents = frontOf(trials).map((trial) => trial.candidate);
  const made: Candidate[] = [];
  for (let repeats = 0; made.length < size && repeats < MAX_REPEATS; repeats += 1) {
    const number = trials.length + made.length + 1;
    const candidate = random.next() < FRESH ? drawn(random, number) : bred(random, parents, number);
    made.push(...unseen([candidate], seen));
  }
  return made;
}

function unseen(candidates: readonly Candidate[], seen: Set<string>): Candidate[] {
  return candidates.filter((candidate) => {
    const key = keyOf(candidate);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
