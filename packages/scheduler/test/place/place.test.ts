// Which nodes are chosen: fewest groups, required nodes, one conformance value; and a brute-force twin.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fewestGroups } from "../../src/machine/groups.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { input, node, nodesIn } from "../make.ts";
import { exactly, place, type Wanted } from "./place-nodes.ts";

describe("fewest groups", () => {
  it.each([
    { name: "the smallest that suffices", counts: [9, 4, 5], forced: [], need: 4, expected: [1] },
    { name: "the first among equals", counts: [3, 3], forced: [], need: 3, expected: [0] },
    { name: "largest, then the smallest that suffices", counts: [5, 9, 3, 2], forced: [], need: 11, expected: [1, 3] },
    { name: "three when two cannot", counts: [2, 3, 1], forced: [], need: 6, expected: [1, 0, 2] },
    { name: "more than there is", counts: [2, 3, 1], forced: [], need: 7, expected: null },
    { name: "forced groups count", counts: [2, 3, 1], forced: [2], need: 3, expected: [2, 0] },
    { name: "forced groups may be enough", counts: [2, 3, 1], forced: [0, 2], need: 3, expected: [0, 2] },
    { name: "empty groups are no help", counts: [1, 0], forced: [], need: 2, expected: null },
  ])("$name", ({ counts, forced, need, expected }) => {
    expect(fewestGroups(Int32Array.from(counts), forced, need)).toEqual(expected);
  });
});

describe("a placement", () => {
  const nodes = [
    ...nodesIn("g1", "a1", "a2", "a3", "a4"),
    ...nodesIn("g2", "b1", "b2", "b3"),
    ...nodesIn("g3", "c1", "c2", "c3"),
  ];
  const machine = machineOf(input({ nodes }));
  const all = [...nodes.keys()];
  const named = (chosen: readonly number[] | null): string | null =>
    chosen === null ? null : chosen.map((index) => machine.nodes[index]?.id).join(" ");
  const numbers = (...ids: string[]): number[] => ids.map((id) => nodes.findIndex((each) => each.id === id));

  it.each([
    { name: "best fit keeps the large group whole", available: all, wanted: exactly(3), expected: "b1 b2 b3" },
    { name: "the group that holds it", available: all, wanted: exactly(4), expected: "a1 a2 a3 a4" },
    {
      name: "two neighbours with the least to spare when one is too small",
      available: all,
      wanted: exactly(6),
      expected: "b1 b2 b3 c1 c2 c3",
    },
    { name: "all", available: all, wanted: exactly(10), expected: "a1 a2 a3 a4 b1 b2 b3 c1 c2 c3" },
    { name: "too many", available: all, wanted: exactly(11), expected: null },
    { name: "only what is available", available: numbers("a1", "c1", "c3"), wanted: exactly(2), expected: "c1 c3" },
    { name: "in the order of preference", available: numbers("a3", "a1", "a2"), wanted: exactly(2), expected: "a1 a3" },
    {
      name: "a range takes the most there is",
      available: numbers("a1", "b1", "b2"),
      wanted: exactly(1, { atMost: 5 }),
      expected: "a1 b1 b2",
    },
    {
      name: "a tight range takes the most within the fewest groups",
      available: numbers("a1", "b1", "b2"),
      wanted: exactly(1, { atMost: 5, tight: true }),
      expected: "b1 b2",
    },
    {
      name: "required nodes come first and pull their group",
      available: all,
      wanted: exactly(3, { required: numbers("c2") }),
      expected: "c1 c2 c3",
    },
    {
      name: "required nodes in two groups need no third",
      available: all,
      wanted: exactly(4, { required: numbers("b3", "c3") }),
      expected: "b1 b2 b3 c3",
    },
    {
      name: "a required node that is not available",
      available: numbers("a1", "a2"),
      wanted: exactly(1, { required: numbers("c3") }),
      expected: null,
    },
    {
      name: "more required than asked for",
      available: all,
      wanted: exactly(1, { required: numbers("a1", "a2") }),
      expected: null,
    },
  ])("has the expected nodes: $name", ({ available, wanted, expected }) => {
    expect(named(place(machine, available, wanted))).toBe(expected);
  });
});

describe("one conformance value", () => {
  const placeOn = (values: Record<string, [group: string, conformance: string]>, wanted: Wanted): string[] => {
    const nodes = Object.entries(values).map(([id, [group, conformance]]) => node(id, { in: group, conformance }));
    const machine = machineOf(input({ nodes }));
    return (place(machine, [...machine.nodes.keys()], wanted) ?? []).map((index) => machine.nodes[index]?.id ?? "");
  };

  it("is preferred over the better-fitting group", () => {
    const values: Record<string, [string, string]> = {
      a1: ["g1", "x"],
      a2: ["g1", "y"],
      b1: ["g2", "y"],
      b2: ["g2", "x"],
      b3: ["g2", "x"],
    };
    expect(placeOn(values, exactly(2))).toEqual(["b2", "b3"]);
  });

  it("never costs a further group", () => {
    const values: Record<string, [string, string]> = {
      a1: ["g1", "x"],
      a2: ["g1", "y"],
      a3: ["g1", "z"],
      b1: ["g2", "x"],
      c1: ["g3", "x"],
    };
    expect(placeOn(values, exactly(3))).toEqual(["a1", "a2", "a3"]);
  });

  it("covers as many nodes as possible when not all can be alike", () => {
    const values: Record<string, [string, string]> = {
      a1: ["g1", "x"],
      a2: ["g1", "y"],
      a3: ["g1", "y"],
      a4: ["g1", ""],
    };
    expect(placeOn(values, exactly(3))).toEqual(["a1", "a2", "a3"]);
  });

  it("applies to required nodes too", () => {
    const values: Record<string, [string, string]> = {
      a1: ["g1", "x"],
      a2: ["g1", "x"],
      a3: ["g1", "y"],
      a4: ["g1", "y"],
      a5: ["g1", "x"],
    };
    expect(placeOn(values, exactly(2, { required: [3] }))).toEqual(["a3", "a4"]);
  });
});

describe("a placement compared with all sets of nodes", () => {
  /** The least number of groups over all sets of `count` nodes that contain the required ones. */
  function fewest(groupOf: readonly number[], count: number, required: readonly number[]): number {
    let best = Number.POSITIVE_INFINITY;
    for (let set = 0; set < 1 << groupOf.length; set += 1) {
      const members = groupOf.flatMap((_, index) => ((set >> index) & 1 ? [index] : []));
      if (members.length !== count || required.some((index) => !members.includes(index))) continue;
      best = Math.min(best, new Set(members.map((index) => groupOf[index])).size);
    }
    return best;
  }

  it("has no more groups than necessary, the exact count, and the required nodes", () => {
    const layout = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom("", "x", "y")), {
      minLength: 1,
      maxLength: 8,
    });
    let placed = 0;
    fc.assert(
      fc.property(layout, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 255 }), (spots, count, picks) => {
        const nodes = spots.map(([group, conformance], i) => node(`n${i}`, { in: `g${group}`, conformance }));
        const machine = machineOf(input({ nodes }));
        const required = [...nodes.keys()].filter((index) => (picks >> index) & 1).slice(0, count);
        const chosen = place(machine, [...nodes.keys()], exactly(count, { required }));
        if (count > nodes.length) {
          expect(chosen).toBeNull();
          return;
        }
        placed += 1;
        expect(new Set(chosen).size).toBe(count);
        for (const index of required) expect(chosen).toContain(index);
        const groups = new Set((chosen ?? []).map((index) => nodes[index]?.group));
        expect(groups.size).toBe(fewest([...machine.groupOf], count, required));
      }),
      { numRuns: 600 },
    );
    expect(placed).toBeGreaterThan(200);
  });

  it("with required conformance exists if any value suffices, in as few groups as that value allows", () => {
    const layout = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom("", "x", "y")), {
      minLength: 2,
      maxLength: 8,
    });
    let placed = 0;
    fc.assert(
      fc.property(layout, fc.integer({ min: 2, max: 6 }), fc.integer({ min: 1, max: 3 }), (spots, count, maxGroups) => {
        const nodes = spots.map(([group, conformance], i) => node(`n${i}`, { in: `g${group}`, conformance }));
        const machine = machineOf(input({ nodes }));
        const groupsOf = (value: string): number => {
          const own = nodes.filter((each) => each.conformance === value).map((each) => Number(each.group.slice(1)));
          return fewest(own, count, []);
        };
        const best = Math.min(groupsOf("x"), groupsOf("y"));
        const chosen = place(machine, [...nodes.keys()], exactly(count, { sameConformance: true, maxGroups }));
        if (best > maxGroups) {
          expect(chosen).toBeNull();
          return;
        }
        placed += 1;
        const taken = (chosen ?? []).map((index) => nodes[index]);
        expect(new Set(taken.map((each) => each?.conformance)).size).toBe(1);
        expect(taken[0]?.conformance).not.toBe("");
        expect(new Set(taken.map((each) => each?.group)).size).toBe(best);
      }),
      { numRuns: 400 },
    );
    expect(placed).toBeGreaterThan(30);
  });
});
