// Which jobs may start ahead of a reservation: each case is a queue, its plan and its reservations.

import { describe, expect, it } from "vitest";
import type { CycleInput } from "../../src/index.ts";
import { cycle } from "../../src/index.ts";
import { busy, input, job, MINUTE, NOW, node, nodeIds, release } from "../make.ts";

const starts = (given: Partial<CycleInput>): string[] =>
  cycle(input(given)).placements.map(
    ({ allocation, nodes, backfilled }) => `${allocation}${backfilled ? "*" : ""}: ${nodes.join(" ")}`,
  );
const reserved = (given: Partial<CycleInput>): string[] =>
  cycle(input(given)).reservations.map(
    ({ allocation, startsAt, nodes }) => `${allocation}@${(startsAt - NOW) / MINUTE}: ${nodes.join(" ")}`,
  );

// Two free nodes, two released in an hour. The head needs all four, or three.
const half = {
  isFifo: true,
  nodes: [node("a"), node("b"), busy("c"), busy("d")],
  releases: [release(60, "c", "d")],
};
const head = job(1, { nodes: 4, waited: 10 });

describe("backfill", () => {
  const cases: { name: string; given: Partial<CycleInput>; placed: string[]; held: string[] }[] = [
    {
      name: "a short job starts before the reservation",
      given: { ...half, pending: [head, job(2, { minutes: 30 })] },
      placed: ["2*: a"],
      held: ["1@60: a b c d"],
    },
    {
      name: "a job that ends a moment too late does not start",
      given: { ...half, pending: [head, job(2, { minutes: 59.6 })] },
      placed: [],
      held: ["1@60: a b c d"],
    },
    {
      name: "a job that ends, grace included, exactly at the reservation starts",
      given: { ...half, pending: [head, job(2, { minutes: 59.5 })] },
      placed: ["2*: a"],
      held: ["1@60: a b c d"],
    },
    {
      name: "a long job takes a node that is not reserved",
      given: { ...half, pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: 600 })] },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "an unbounded job takes the only spare node",
      given: {
        ...half,
        pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: null, waited: 5 }), job(3, { minutes: 600 })],
      },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "a reservation moves to other nodes when its start stays",
      given: {
        isFifo: true,
        // The head would hold g1 (c, d and the free a); the next one needs a by name.
        nodes: [node("a"), node("b"), busy("c"), busy("d")],
        releases: [release(60, "c", "d")],
        pending: [
          job(1, { nodes: 3, waited: 10 }),
          job(2, { minutes: 600, constraints: { requiredNodes: nodeIds("a") } }),
        ],
      },
      placed: ["2*: a"],
      held: ["1@60: b c d"],
    },
    {
      name: "a reservation does not move when only its nodes fit",
      given: {
        isFifo: true,
        nodes: [node("a", { gpuCount: 4 }), node("b"), busy("c", { gpuCount: 4 })],
        releases: [release(60, "c")],
        pending: [
          job(1, { nodes: 2, waited: 10, constraints: { gpuCount: 4 } }),
          job(2, { minutes: 600, constraints: { requiredNodes: nodeIds("a") }, waited: 5 }),
          job(3, { minutes: 600 }),
        ],
      },
      placed: ["3*: b"],
      held: ["1@60: a c"],
    },
    {
      name: "a range is cut to the nodes that the reservation leaves",
      given: { ...half, pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: 600, nodes: 1, max: 4 })] },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "depth 2 protects the second reservation",
      given: {
        ...half,
        backfillDepth: 2,
        pending: [
          job(1, { nodes: 3, minutes: 10, waited: 10 }),
          job(2, { nodes: 4, minutes: 10, waited: 9 }),
          job(3, { minutes: 600 }),
        ],
      },
      placed: [],
      held: ["1@60: a c d", "2@70.5: a b c d"],
    },
    {
      name: "depth 1 does not protect the second",
      given: {
        ...half,
        pending: [
          job(1, { nodes: 3, minutes: 10, waited: 10 }),
          job(2, { nodes: 4, minutes: 10, waited: 9 }),
          job(3, { minutes: 600 }),
        ],
      },
      placed: ["3*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "depth 0 prevents overtaking",
      given: { ...half, backfillDepth: 0, pending: [head, job(2, { minutes: 1 })] },
      placed: [],
      held: [],
    },
    {
      name: "an infeasible job blocks no other, not even at depth 0",
      given: { ...half, backfillDepth: 0, pending: [job(1, { nodes: 9, waited: 10 }), job(2)] },
      placed: ["2: a"],
      held: [],
    },
    {
      name: "a job without a known release blocks no other",
      given: { ...half, releases: [release(null, "c", "d")], pending: [head, job(2)] },
      placed: ["2: a"],
      held: [],
    },
  ];
  it.each(cases)("$name", ({ given, placed, held }) => {
    expect({ placed: starts(given), held: reserved(given) }).toEqual({ placed, held });
  });
});
