// The exchange of one start for several later jobs that are worth more together.

import { describe, expect, it } from "vitest";
import { EXCHANGE_QUEUE_LIMIT } from "../../src/base/bounds.ts";
import { type CycleInput, cycle, explain, recordCycle } from "../../src/index.ts";
import { allocationId, input, job, MINUTE, NOW, nodesIn, release, tenant } from "../make.ts";

const machine = { nodes: nodesIn("g0", "a", "b", "c", "d", "e", "f"), tenants: [tenant("physics")], backfillDepth: 4 };

/** The first takes one node, the second three; the third would use all of the five that are left. */
const queue = [
  job(1, { nodes: 1, waited: 30, minutes: 60 }),
  job(2, { nodes: 3, waited: 20, minutes: 60 }),
  job(3, { nodes: 5, waited: 10, minutes: 60 }),
];

const started = (given: Partial<CycleInput>): string[] =>
  cycle(input({ ...machine, pending: queue, ...given })).placements.map(({ allocation }) => allocation);

describe("an exchange of starts", () => {
  it("replaces a start by jobs worth more, and the replaced job gets a reservation", () => {
    const { placements, reservations } = cycle(input({ ...machine, pending: queue }));
    expect(placements.map(({ allocation, nodes, backfilled }) => [allocation, nodes.length, backfilled])).toEqual([
      ["1", 1, false],
      ["3", 5, true],
    ]);
    expect(reservations).toMatchObject([{ allocation: "2", startsAt: NOW + 60.5 * MINUTE }]);
  });

  it("is not repeated: the next cycle keeps the reservation", () => {
    const first = cycle(input({ ...machine, pending: queue }));
    const [, second] = queue;
    if (second === undefined) throw new Error("there are three");
    const nodes = machine.nodes.map((node) => ({ ...node, free: false, notFreeBecause: "busy" }));
    const later = input({
      ...machine,
      nodes,
      releases: [release(60.5, "a", "b", "c", "d", "e", "f")],
      pending: [second, job(4, { nodes: 6, minutes: 600, waited: 19 })],
      previousReservations: first.reservations,
    });
    const [kept] = cycle(later).reservations;
    expect([kept?.allocation, kept?.startsAt]).toEqual(["2", NOW + 60.5 * MINUTE]);
    const due = { ...later, now: (NOW + 61 * MINUTE) as CycleInput["now"], nodes: machine.nodes, releases: [] };
    expect(cycle(due).placements.map(({ allocation }) => allocation)).toContain("2");
  });

  it("is the reason shown for the replaced allocation", () => {
    const { record } = recordCycle(input({ ...machine, pending: queue, report: "full" }));
    if (record === null) throw new Error("the queue was ordered");
    const [cause] = explain(record, allocationId(2))?.causes ?? [];
    expect(cause?.code).toBe("exchanged");
    expect(cause?.text).toMatch(/^1 allocation behind it started first/);
    expect(explain(record, allocationId(3))?.startsNow).toBe(true);
  });

  it.each<[string, Partial<CycleInput>]>([
    ["the queue is served by submission", { isFifo: true }],
    ["no reservations are made", { backfillDepth: 0 }],
    [
      "who would gain is of a lower class",
      { pending: [...queue.slice(0, 2), job(3, { nodes: 5, waited: 10, class: 4 })] },
    ],
    [
      "it was promised its start",
      {
        previousReservations: [
          { allocation: allocationId(2), startsAt: NOW, nodes: machine.nodes.slice(1, 4).map(({ id }) => id) },
        ],
      },
    ],
    ["it is the first of the queue", { pending: queue.slice(1) }],
    ["the gain is nothing to speak of", { pending: [...queue.slice(0, 2), job(3, { nodes: 3, waited: 19.99 })] }],
    [
      "the queue is long",
      { pending: [...queue, ...Array.from({ length: EXCHANGE_QUEUE_LIMIT }, (_, i) => job(10 + i, { nodes: 9 }))] },
    ],
    ["the quota of who would gain does not allow it", { tenants: [tenant("physics", { maxNodes: 5 })] }],
  ])("does not happen where %s", (_, given) => {
    expect(started(given)).toContain("2");
  });
});
