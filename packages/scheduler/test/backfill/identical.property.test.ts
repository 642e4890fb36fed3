// Identical requests start in the order of their submission, even if jobs end early, are cancelled, or
// request more time than they need; and no reservation is broken for that.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulate } from "../simulate.ts";
import { overtaking, scenarioOf, someMates } from "./identical.ts";

describe("identical requests", () => {
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
      // A fixed seed: a rare mistake must not fail an unrelated change by chance.
      { numRuns: 400, seed: 4 },
    );
    expect(waited).toBeGreaterThan(400);
  }, 600_000);
});
