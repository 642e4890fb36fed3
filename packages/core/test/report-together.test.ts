// The nodes of an attempt may report in one entry or one after the other: state, outcomes, events and effects are
// the same.

import { attempt, type Command, instant, stateHash } from "@lattice/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createCluster, health, register, reportOf, sha256, submit } from "./support/cluster.ts";

const NODES = ["n1", "n2", "n3", "n4"] as const;
const someReports = fc.array(
  fc.record({
    nodes: fc.shuffledSubarray([...NODES], { minLength: 3 }),
    state: fc.constantFrom("running" as const, "completed" as const, "staging" as const, "failed" as const),
    n: fc.constantFrom(1, 1, 1, 2),
    which: fc.constantFrom(1, 1, 1, 2),
    endedAt: fc.array(fc.constantFrom(0, 999_000, 1_000_000, 2_000_000), { minLength: 4, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4 },
);

function begin() {
  const cluster = createCluster(...NODES.map((name) => register(name)), register("n5"));
  cluster.apply(submit({ nodes: 4 }), submit({ nodes: 1 }));
  cluster.place(1, ...NODES);
  cluster.place(2, "n5");
  return cluster;
}

it("reports in one entry have the same effect as reports in separate entries", () => {
  let folded = 0;
  fc.assert(
    fc.property(someReports, (rounds) => {
      const together = begin();
      const apart = begin();
      for (const { nodes, state, n, which, endedAt } of rounds) {
        const reports: Command[] = nodes.map((node, at) => ({
          ...reportOf(n, node, attempt(which), state),
          endedAt: instant(endedAt[at] ?? 0),
        }));
        const one = together.apply(...reports);
        // Something in between, which changes nothing, keeps them apart.
        const other = apart.apply(...reports.flatMap((report) => [report, health("n5", "heard")]));
        expect(one.outcomes).toEqual(other.outcomes.filter((_, at) => at % 2 === 0));
        expect(one.events).toEqual(other.events);
        expect(one.effects).toEqual(other.effects);
        expect(stateHash(together.state, sha256)).toBe(stateHash(apart.state, sha256));
        if (nodes.length === 4 && one.events.length > 0) folded += 1;
      }
    }),
  );
  expect(folded).toBeGreaterThan(5);
});
