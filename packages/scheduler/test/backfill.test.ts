// Who may start ahead of a reservation, and who may not: each case a queue, its plan and its reservations.

import { describe, expect, it } from "vitest";
import type { CycleInput } from "../src/index.ts";
import { cycle } from "../src/index.ts";
import { busy, input, job, MINUTE, NOW, node, nodeIds, release } from "./make.ts";

const starts = (given: Partial<CycleInput>): string[] =>
  cycle(input(given)).placements.map(
    ({ allocation, nodes, backfilled }) => `${allocation}${backfilled ? "*" : ""}: ${nodes.join(" ")}`,
  );
const reserved = (given: Partial<CycleInput>): string[] =>
  cycle(input(given)).reservations.map(
    ({ allocation, startsAt, nodes }) => `${allocation}@${(startsAt - NOW) / MINUTE}: ${nodes.join(" ")}`,
  );

// Two free nodes, two that come back in an hour. The head wants all four, or three.
const half = {
  fifo: true,
  nodes: [node("a"), node("b"), busy("c"), busy("d")],
  releases: [release(60, "c", "d")],
};
const head = job(1, { nodes: 4, waited: 10 });

describe("backfill", () => {
  const cases: { name: string; given: Partial<CycleInput>; placed: string[]; held: string[] }[] = [
    {
      name: "a short one starts before the reservation",
      given: { ...half, pending: [head, job(2, { minutes: 30 })] },
      placed: ["2*: a"],
      held: ["1@60: a b c d"],
    },
    {
      name: "one that ends a moment too late does not",
      given: { ...half, pending: [head, job(2, { minutes: 59.6 })] },
      placed: [],
      held: ["1@60: a b c d"],
    },
    {
      name: "one that ends, grace included, on the dot does",
      given: { ...half, pending: [head, job(2, { minutes: 59.5 })] },
      placed: ["2*: a"],
      held: ["1@60: a b c d"],
    },
    {
      name: "a long one takes a node that is not held",
      given: { ...half, pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: 600 })] },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "an unbounded one too, and it uses up the spare node",
      given: {
        ...half,
        pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: null, waited: 5 }), job(3, { minutes: 600 })],
      },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "the reservation moves to other nodes when its start stays",
      given: {
        fifo: true,
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
      name: "but not when the held nodes are the only ones that fit",
      given: {
        fifo: true,
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
      name: "a range is cut to what the reservation leaves",
      given: { ...half, pending: [job(1, { nodes: 3, waited: 10 }), job(2, { minutes: 600, nodes: 1, max: 4 })] },
      placed: ["2*: b"],
      held: ["1@60: a c d"],
    },
    {
      name: "depth 2 protects the second too",
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
      name: "depth 1 does not",
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
      name: "depth 0 lets nobody overtake",
      given: { ...half, backfillDepth: 0, pending: [head, job(2, { minutes: 1 })] },
      placed: [],
      held: [],
    },
    {
      name: "whoever can never start blocks nobody, not even at depth 0",
      given: { ...half, backfillDepth: 0, pending: [job(1, { nodes: 9, waited: 10 }), job(2)] },
      placed: ["2: a"],
      held: [],
    },
    {
      name: "an allocation whose nodes never come back blocks nobody",
      given: { ...half, releases: [release(null, "c", "d")], pending: [head, job(2)] },
      placed: ["2: a"],
      held: [],
    },
  ];
  it.each(cases)("$name", ({ given, placed, held }) => {
    expect({ placed: starts(given), held: reserved(given) }).toEqual({ placed, held });
  });
});
