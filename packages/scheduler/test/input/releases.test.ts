// Counts of releases by instant.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { releasedBy, releaseTimesOf } from "../../src/input/releases.ts";

const never = Number.POSITIVE_INFINITY;

describe("release times", () => {
  it("leave out nodes that are free, released now, or never released", () => {
    expect(releaseTimesOf(Float64Array.of(0, 100, never), 100)).toEqual({ at: [], count: [] });
  });

  it("add up the nodes released by each instant", () => {
    expect(releaseTimesOf(Float64Array.of(300, 0, 200, 300, never, 101), 100)).toEqual({
      at: [101, 200, 300],
      count: [1, 2, 4],
    });
  });

  it.each([
    [100, 0],
    [199, 0],
    [200, 2],
    [299, 2],
    [300, 5],
    [never, 5],
  ])("give for %d %i nodes", (instant, expected) => {
    expect(releasedBy({ at: [200, 300], count: [2, 5] }, instant)).toBe(expected);
  });

  it("without releases are 0 at any instant", () => {
    expect(releasedBy({ at: [], count: [] }, never)).toBe(0);
  });

  it("agree with a count of the nodes at every instant", () => {
    const someInstants = fc.array(fc.oneof(fc.nat(12), fc.constant(never)), { maxLength: 20 });
    fc.assert(
      fc.property(someInstants, fc.nat(12), (instants, now) => {
        const times = releaseTimesOf(Float64Array.from(instants), now);
        for (let at = now; at <= 13; at += 1) {
          expect(releasedBy(times, at)).toBe(instants.filter((instant) => instant > now && instant <= at).length);
        }
      }),
      { numRuns: 300 },
    );
  });
});
