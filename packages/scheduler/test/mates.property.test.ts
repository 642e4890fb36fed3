// Those who ask for the same start in the order of their submission, whatever ends early, is cancelled, or
// has asked for more time than it needs; and nobody's promise is broken for that.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overtaking, scenarioOf, someMates } from "./mates.ts";
import { simulate } from "./simulate.ts";

describe("those who ask for the same", () => {
  // The time limit is for machines that do much else.
  it("start in the order of their submission", () => {
    let waited = 0;
    fc.assert(
      fc.property(someMates, (mates) => {
        const scenario = scenarioOf(mates);
        const run = simulate(scenario);
        expect(overtaking(mates, scenario, run)).toBeNull();
        for (const { id, submittedAt } of scenario.jobs) if ((run.startedAt.get(id) ?? 0) > submittedAt) waited += 1;
      }),
      // Always the same ones: a rare mistake is to be found by many runs, not by chance in somebody else's.
      { numRuns: 400, seed: 4 },
    );
    expect(waited).toBeGreaterThan(400);
  }, 600_000);
});
