// Starts now: around reservations, within budgets, and by moving reservations whose start stays.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startNow } from "../../src/backfill/start-now.ts";
import type { CycleInput } from "../../src/index.ts";
import type { Draft } from "../../src/plan/draft.ts";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn, namesOf } from "../drafts.ts";
import { busy, type JobFields, MINUTE, NOW, node, nodeIds, release } from "../make.ts";

// Two free nodes, two released in an hour.
const half: Partial<CycleInput> = {
  nodes: [node("a"), node("b"), busy("c"), busy("d")],
  releases: [release(60, "c", "d")],
};

/** Reserves for the head, then tries to start the other; the nodes, and where the head is reserved now. */
function attempt(given: Partial<CycleInput>, head: JobFields | null, other: JobFields, moves = 9) {
  const draft = draftOf(given, moves);
  if (head !== null) {
    const found = findReservation(draft, jobFrom(draft, 1, head));
    if (found === null) throw new Error("no reservation");
    addReservation(draft, found);
  }
  const nodes = startNow(draft, jobFrom(draft, 2, other), other.max ?? other.nodes ?? 1);
  return { nodes: namesOf(draft, nodes), head: draft.reservations.map((one) => namesOf(draft, one.nodes)), draft };
}

describe("a start now", () => {
  const cases: {
    name: string;
    head: JobFields | null;
    other: JobFields;
    moves?: number;
    nodes: string | null;
    reserved?: string;
  }[] = [
    { name: "takes free nodes", head: null, other: { nodes: 2 }, nodes: "a b" },
    { name: "fails with too few free nodes", head: null, other: { nodes: 3 }, nodes: null },
    { name: "takes the most of a range", head: null, other: { nodes: 1, max: 4 }, nodes: "a b" },
    { name: "avoids the reserved node", head: { nodes: 3 }, other: { minutes: 90 }, nodes: "b", reserved: "a c d" },
    {
      name: "uses a reserved node until its reservation",
      head: { nodes: 4 },
      other: { nodes: 2, minutes: 59.5 },
      nodes: "a b",
      reserved: "a b c d",
    },
    {
      name: "fails where it would delay the reservation",
      head: { nodes: 4 },
      other: { minutes: 90 },
      nodes: null,
      reserved: "a b c d",
    },
    {
      name: "moves a reservation to another node at the same start",
      head: { nodes: 3 },
      other: { minutes: 90, constraints: { requiredNodes: nodeIds("a") } },
      nodes: "a",
      reserved: "b c d",
    },
    {
      name: "moves nothing once the moves are used up",
      head: { nodes: 3 },
      other: { minutes: 90, constraints: { requiredNodes: nodeIds("a") } },
      moves: 0,
      nodes: null,
      reserved: "a c d",
    },
    {
      name: "moves nothing where the reservation needs that node by name",
      head: { nodes: 3, constraints: { requiredNodes: nodeIds("a") } },
      other: { minutes: 90, constraints: { requiredNodes: nodeIds("a") } },
      nodes: null,
      reserved: "a c d",
    },
    {
      name: "fails on a required node that is busy",
      head: { nodes: 3 },
      other: { constraints: { requiredNodes: nodeIds("c") } },
      nodes: null,
      reserved: "a c d",
    },
  ];
  it.each(cases)("$name", ({ head, other, moves, nodes, reserved }) => {
    const result = attempt(half, head, other, moves);
    expect(result.nodes).toBe(nodes);
    expect(result.head).toEqual(reserved === undefined ? [] : [reserved]);
  });

  it("counts an attempt to move, successful or not, and restores the draft", () => {
    const { draft } = attempt(
      half,
      { nodes: 3, constraints: { requiredNodes: nodeIds("a") } },
      { minutes: 90, constraints: { requiredNodes: nodeIds("a") } },
    );
    expect(draft.movesLeft).toBe(8);
    expect(draft.changedNodes).toEqual([]);
    expect([...draft.availableFrom]).toEqual([0, 0, NOW + 60 * MINUTE, NOW + 60 * MINUTE]);
    expect(draft.reservedIntervals.all()).toEqual(draft.reservations);
  });

  it("never moves reservations of other vClusters", () => {
    const draft = draftOf({ nodes: [node("a"), node("b")] }, 9);
    draft.reservedIntervals.add({ startsAt: NOW + MINUTE, endsAt: NOW + 90 * MINUTE, nodes: [0] });
    const wants = (id: string) => jobFrom(draft, 1, { minutes: 60, constraints: { requiredNodes: nodeIds(id) } });
    expect(startNow(draft, wants("a"), 1)).toBeNull();
    expect(namesOf(draft, startNow(draft, wants("b"), 1))).toBe("b");
  });

  it("uses as many nodes of a range as power allows, and none where its minimum exceeds the power", () => {
    const nodes = ["a", "b", "c"].map((id) => node(id, { powerWatts: 100 }));
    const draft = draftOf({ nodes, signals: { power: { limit: 250, used: 0 } } });
    expect(namesOf(draft, startNow(draft, jobFrom(draft, 1, { nodes: 1, max: 3 }), 3))).toBe("a b");
    expect(startNow(draft, jobFrom(draft, 2, { nodes: 3 }), 3)).toBeNull();
  });
});

describe("every start around reservations", () => {
  const isOpen = ({ availableFrom, reservedIntervals, now }: Draft, at: number, end: number): boolean =>
    (availableFrom[at] as number) <= now &&
    reservedIntervals.all().every(({ startsAt, nodes }) => !nodes.includes(at) || startsAt >= end);

  it("leaves each reservation its start, on nodes that are available then and overlap no other", () => {
    let started = 0;
    fc.assert(
      fc.property(someInput, (given) => {
        const draft = draftOf(given, 9);
        for (const pending of given.pending) {
          const job = jobOn(draft, pending);
          const before = draft.reservations;
          const nodes = startNow(draft, job, pending.maxNodes);
          expect(draft.reservations.map(({ job: { input }, startsAt }) => `${input.id}@${startsAt}`).sort()).toEqual(
            before.map(({ job: { input }, startsAt }) => `${input.id}@${startsAt}`).sort(),
          );
          if (nodes !== null) {
            started += 1;
            for (const at of nodes) expect(isOpen(draft, at, draft.now + job.occupancy)).toBe(true);
          }
          for (const one of draft.reservations)
            for (const other of draft.reservations)
              if (one !== other && one.startsAt < other.endsAt && other.startsAt < one.endsAt)
                expect(one.nodes.filter((at) => other.nodes.includes(at))).toEqual([]);
          const found = nodes === null && job.match.required !== null ? findReservation(draft, job) : null;
          if (found !== null) addReservation(draft, found);
        }
      }),
      { numRuns: 200 },
    );
    expect(started).toBeGreaterThan(200);
  });

  it("moves a reservation off any named node exactly when a node is to spare", () => {
    const some = fc.record({ free: fc.integer({ min: 1, max: 4 }), busy: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(some, fc.nat(6), fc.nat(3), (count, spare, pick) => {
        const free = Array.from({ length: count.free }, (_, i) => node(`a${i}`));
        const later = Array.from({ length: count.busy }, (_, i) => busy(`b${i}`));
        const given = { nodes: [...free, ...later], releases: [release(60, ...later.map(({ id }) => id))] };
        const needed = Math.max(count.busy + 1, count.free + count.busy - spare);
        const wanted = `a${pick % count.free}`;
        const { nodes, draft } = attempt(
          given,
          { nodes: needed },
          { minutes: 90, constraints: { requiredNodes: nodeIds(wanted) } },
        );
        const [head] = draft.reservations;
        expect(nodes).toBe(needed < count.free + count.busy ? wanted : null);
        expect(head?.startsAt).toBe(NOW + 60 * MINUTE);
        expect(new Set(head?.nodes).size).toBe(needed);
        if (nodes !== null) expect(namesOf(draft, head?.nodes ?? null)?.split(" ")).not.toContain(wanted);
      }),
      { numRuns: 200 },
    );
  });
});
