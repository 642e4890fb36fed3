// The order of the members of a DAG, and the cycle that is shown when there is none.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderMembers } from "../../../src/model/dag/order.ts";

/** Members 0 to n-1, each with the members that it waits for. */
const graphs = (acyclic: boolean): fc.Arbitrary<readonly (readonly number[])[]> =>
  fc
    .integer({ min: 1, max: 12 })
    .chain((size) =>
      fc.tuple(
        ...Array.from({ length: size }, (_, n) =>
          acyclic && n === 0
            ? fc.constant([] as number[])
            : fc.uniqueArray(fc.nat(acyclic ? n - 1 : size - 1), { maxLength: 3 }),
        ),
      ),
    );

describe("the order of a DAG", () => {
  it.each<[string, readonly (readonly number[])[], readonly number[]]>([
    ["members without dependencies", [[], [], []], [0, 1, 2]],
    ["a chain that is written backwards", [[1], [2], []], [2, 1, 0]],
    ["a diamond", [[], [0], [0], [1, 2]], [0, 1, 2, 3]],
    ["a late root", [[3], [], [0], []], [1, 3, 0, 2]],
  ])("of %s is as near to the written order as possible", (_name, needs, positions) => {
    expect(orderMembers(needs)).toEqual({ kind: "ordered", positions });
  });

  it("has each member once, after everything that it waits for", () => {
    fc.assert(
      fc.property(graphs(true), (needs) => {
        const order = orderMembers(needs);
        expect(order.kind).toBe("ordered");
        const place = new Map(order.positions.map((member, n) => [member, n]));
        expect(place.size).toBe(needs.length);
        for (const [member, list] of needs.entries())
          for (const needed of list) expect(place.get(needed) ?? 99).toBeLessThan(place.get(member) ?? -1);
      }),
    );
  });

  it("does not exist where members wait in a circle, and the circle is named", () => {
    expect(orderMembers([[0]])).toEqual({ kind: "cycle", positions: [0] });
    expect(orderMembers([[1], [2], [0], []])).toEqual({ kind: "cycle", positions: [2, 1, 0] });
  });

  it("lists a true circle: each member waits for the one before", () => {
    fc.assert(
      fc.property(graphs(false), (needs) => {
        const order = orderMembers(needs);
        if (order.kind === "ordered") return;
        const { positions } = order;
        expect(positions.length).toBeGreaterThan(0);
        expect(new Set(positions).size).toBe(positions.length);
        for (const [n, member] of positions.entries()) {
          const before = positions.at(n - 1) ?? -1;
          expect(needs[member]).toContain(before);
        }
      }),
    );
  });
});
