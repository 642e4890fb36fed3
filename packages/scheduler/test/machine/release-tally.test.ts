// The tally of releases that is maintained across cycles, compared with a count from scratch.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OVERDUE_RELEASE } from "../../src/base/bounds.ts";
import { releaseTimesOf } from "../../src/input/releases.ts";
import { expectedRelease } from "../../src/machine/availability.ts";
import { createReleaseTally } from "../../src/machine/release-tally.ts";

const tallyOf = (instants: readonly number[]) => {
  const tally = createReleaseTally();
  for (const instant of instants) tally.add(instant, 1);
  return tally;
};

describe("a tally of releases", () => {
  it("counts nodes by instant, whatever the order in which they were added", () => {
    expect(tallyOf([500, 300, 500, 400]).timesFrom(100)).toEqual({ at: [300, 400, 500], count: [1, 2, 4] });
  });

  it("forgets an instant with its last node", () => {
    const tally = tallyOf([300, 500, 500]);
    tally.add(300, -1);
    tally.add(500, -1);
    expect(tally.timesFrom(100)).toEqual({ at: [500], count: [1] });
    tally.add(500, -1);
    expect(tally.timesFrom(100)).toEqual({ at: [], count: [] });
    expect(tally.isOverdue(1e9)).toBe(false);
  });

  it("does not count nodes that are never released", () => {
    const tally = tallyOf([Number.POSITIVE_INFINITY]);
    expect(tally.timesFrom(0)).toEqual({ at: [], count: [] });
  });

  it.each([
    [299, false],
    [300, true],
    [301, true],
  ])("at %i is overdue: %s", (now, expected) => {
    expect(tallyOf([300, 900]).isOverdue(now)).toBe(expected);
  });

  it("expects overdue nodes soon, between the instants that come before and after", () => {
    const soon = 1_000 + OVERDUE_RELEASE;
    const tally = tallyOf([400, 1_000, 1_500, soon + 1]);
    expect(tally.timesFrom(1_000)).toEqual({ at: [1_500, soon, soon + 1], count: [1, 3, 4] });
  });

  it("adds overdue nodes to an instant that is the same", () => {
    const soon = 1_000 + OVERDUE_RELEASE;
    expect(tallyOf([400, soon]).timesFrom(1_000)).toEqual({ at: [soon], count: [2] });
    expect(tallyOf([400, 600]).timesFrom(1_000)).toEqual({ at: [soon], count: [2] });
  });

  it("equals the count from scratch after any changes", () => {
    const someInstant = fc.oneof(
      fc.nat(8).map((n) => n * 10_000),
      fc.constant(Number.POSITIVE_INFINITY),
    );
    const someChanges = fc.array(fc.tuple(fc.nat(5), someInstant), { maxLength: 40 });
    fc.assert(
      fc.property(someChanges, fc.nat(80_000), (changes, now) => {
        const tally = createReleaseTally();
        const nodes = new Array<number>(6).fill(Number.POSITIVE_INFINITY);
        for (const [node, instant] of changes) {
          tally.add(nodes[node] as number, -1);
          tally.add(instant, 1);
          nodes[node] = instant;
        }
        const expected = nodes.map((at) => (Number.isFinite(at) ? expectedRelease(at, now) : at));
        expect(tally.timesFrom(now)).toEqual(releaseTimesOf(Float64Array.from(expected), now));
        expect(tally.isOverdue(now)).toBe(nodes.some((at) => at <= now));
      }),
      { numRuns: 300 },
    );
  });
});
