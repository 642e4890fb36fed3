// The search for weights: fronts by definition, the same result for the same seed, better than its start.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { latticeSetup, type Summary } from "../src/index.ts";
import { randomFrom } from "../src/random.ts";
import { crossover, keyOf, knownCandidates, randomCandidate, type WeightCandidate } from "../src/tune/candidate.ts";
import { frontOf } from "../src/tune/front.ts";
import { OBJECTIVE_NAMES, objectives } from "../src/tune/objectives.ts";
import { frontHtml, frontJson, frontText, profileYaml } from "../src/tune/render.ts";
import { search } from "../src/tune/search.ts";
import { tryCandidate } from "../src/tune/trial.ts";
import { DEFAULT_PROFILES, FACTORS } from "../src/weights/profile.ts";
import { seededJobs, traceOfJobs } from "./make.ts";

const start = DEFAULT_PROFILES.profiles[0];
if (start === undefined) throw new Error("there is a default profile");

describe("the front", () => {
  it("the front has the trials that no other beats in both costs", () => {
    const cost = fc.integer({ min: 0, max: 9 });
    fc.assert(
      fc.property(fc.array(fc.tuple(cost, cost), { maxLength: 20 }), (all) => {
        const trials = all.map((costs) => ({ costs }));
        const front = frontOf(trials);
        const beats = (a: readonly number[], b: readonly number[]): boolean =>
          (a[0] ?? 0) <= (b[0] ?? 0) && (a[1] ?? 0) <= (b[1] ?? 0) && a.join() !== b.join();
        for (const { costs } of front) expect(all.some((other) => beats(other, costs))).toBe(false);
        for (const costs of all) {
          const kept = front.some((one) => one.costs.join() === costs.join());
          expect(kept || all.some((other) => beats(other, costs))).toBe(true);
        }
      }),
    );
  });
});

describe("candidates", () => {
  it("weights sum to 1, however they were made", () => {
    const random = randomFrom(4);
    const known = knownCandidates(start);
    const all = [...known, randomCandidate(random, 1), crossover(random, known, 2), crossover(random, known, 3)];
    for (const { weights } of all) {
      const sum = FACTORS.reduce((total, factor) => total + weights[factor], 0);
      expect(Math.abs(sum - 1000)).toBeLessThan(6);
      expect(FACTORS.every((factor) => weights[factor] >= 0)).toBe(true);
    }
    expect(new Set(all.map(keyOf)).size).toBeGreaterThan(5);
  });
});

describe("the search", () => {
  /** As if only the weight of waiting counted, best where no named profile has it, and priority were its price. */
  const fake = async (candidates: readonly WeightCandidate[]): Promise<readonly Summary[]> =>
    candidates.map(({ weights }) => {
      const wait = { mean: 0, median: 0, p95: 0, p99: 1000 - weights.priority, max: 0 };
      return { meanBoundedSlowdown: 1 + Math.abs(WANTED_WAIT - weights.wait_time), wait } as Summary;
    });
  const WANTED_WAIT = 617;
  const options = { start, objective: objectives.slowdown, against: objectives["p99-wait"], budget: 60, tryAll: fake };

  it("equal seeds give equal results, other seeds others", async () => {
    const names = async (seed: number): Promise<string> =>
      (await search({ ...options, seed })).map(({ candidate }) => keyOf(candidate)).join("\n");
    expect(await names(1)).toBe(await names(1));
    expect(await names(2)).not.toBe(await names(1));
  });

  it("the search stays within its budget and beats the named profiles", async () => {
    const trials = await search({ ...options, seed: 1 });
    expect(trials).toHaveLength(60);
    const known = trials.slice(0, knownCandidates(start).length - 1);
    const best = (some: typeof trials): number => Math.min(...some.map(({ costs }) => costs[0]));
    expect(best(trials)).toBeLessThan(best(known));
  });

  it("the front is shown as text, data and page", async () => {
    const trace = traceOfJobs(16, seededJobs(9, 60, 16));
    const setup = latticeSetup(trace, { inventory: null, profiles: null, unit: 1 });
    const tryAll = async (candidates: readonly WeightCandidate[]): Promise<readonly Summary[]> =>
      candidates.map((candidate) => tryCandidate({ trace, setup }, candidate));
    const found = { trials: await search({ ...options, budget: 9, seed: 3, tryAll }), ...options };
    expect(found.trials).toHaveLength(9);
    expect(frontText(found)).toContain("9 profiles tried");
    expect(JSON.parse(frontJson(found))).toHaveLength(9);
    expect(frontHtml(found)).toMatch(/<circle[\s\S]*<table>/);
    const best = frontOf(found.trials)[0];
    if (best === undefined) throw new Error("a front is never empty");
    expect(profileYaml("hpc", best.candidate)).toMatch(/^hpc:\n {2}priority: 0\.\d{3}\n/);
    for (const name of OBJECTIVE_NAMES) {
      expect(Number.isFinite(objectives[name].cost(best.summary)), name).toBe(true);
      expect(objectives[name].show(objectives[name].cost(best.summary))).not.toBe("");
    }
  });
});
