// Explanations by the predicates that decide: figures of nodes equal counts by `fits`, positions equal the order of the
// queue, and every reason is true of the plan.

import { fits, shortfalls } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockers } from "../../src/explain/blockers.ts";
import { shortfallField } from "../../src/explain/constraint-texts.ts";
import {
  type CycleInput,
  type CycleRecord,
  explain,
  type NodeInput,
  type PendingInput,
  reasonsFor,
  recordCycle,
} from "../../src/index.ts";
import { isFeasible } from "../../src/place/feasibility.ts";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn } from "../drafts.ts";
import { allocationId, busy, input, job, node, nodeIds, release } from "../make.ts";

function recordOf(given: CycleInput): CycleRecord {
  const { record } = recordCycle({ ...given, report: "full" });
  if (record === null) throw new Error("the queue was not ordered");
  return record;
}

const matches = ({ constraints }: PendingInput, each: NodeInput): boolean =>
  each.usable && fits(constraints, each.id, each);

describe("the figures of an explanation", () => {
  it("equal counts of the nodes by the predicate that decides", () => {
    let explained = 0;
    fc.assert(
      fc.property(someInput, (given) => {
        const record = recordOf(given);
        const taken = new Set<string>(record.result.placements.flatMap(({ nodes }) => nodes));
        for (const pending of given.pending) {
          const figures = explain(record, pending.id)?.nodes;
          if (figures === undefined) throw new Error("not explained");
          const matching = given.nodes.filter((each) => matches(pending, each));
          const free = matching.filter((each) => each.free && !taken.has(each.id));
          expect(figures.total).toBe(given.nodes.length);
          expect([figures.matching, figures.free]).toEqual([matching.length, free.length]);
          const busyNodes = figures.busy.reduce((sum, { nodes }) => sum + nodes, 0) + figures.busyWithOthers;
          expect(busyNodes).toBe(matching.length - free.length);
          for (const { nodes } of figures.reserved) expect(nodes).toBeLessThanOrEqual(free.length);
          explained += 1;
        }
      }),
      { numRuns: 100 },
    );
    expect(explained).toBeGreaterThan(500);
  });

  it("name each shortfall with the number of nodes that have it", () => {
    fc.assert(
      fc.property(someInput, (given) => {
        const record = recordOf(given);
        for (const pending of given.pending) {
          const { constraints } = pending;
          const expected = new Map<string, number>();
          const count = (what: string): void => void expected.set(what, (expected.get(what) ?? 0) + 1);
          for (const each of given.nodes) {
            if (!each.usable) count(each.notFreeBecause);
            for (const what of new Set(shortfalls(constraints, each.id, each).map(shortfallField))) count(what);
          }
          const known = new Set<string>(given.nodes.map(({ id }) => id));
          for (const id of constraints.requiredNodes) if (!known.has(id)) count("required_nodes");
          // A node excluded twice is listed twice.
          const excluded = constraints.excludedNodes.filter((id) => known.has(id)).length;
          if (excluded > 0) expected.set("excluded_nodes", excluded);
          const found = explain(record, pending.id)?.nodes.failing ?? [];
          expect(new Map(found.map(({ what, nodes }) => [what, nodes]))).toEqual(expected);
          expect(found.map(({ nodes }) => nodes)).toEqual(found.map(({ nodes }) => nodes).sort((a, b) => b - a));
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("the position in the queue", () => {
  it("counts the waiting allocations ahead, and lists the first of them in order", () => {
    fc.assert(
      fc.property(someInput, (given) => {
        const record = recordOf(given);
        const { placed } = record.decision.draft;
        const waiting = [...record.decision.queue.select(({ id }) => !placed.has(id))].map(({ input: { id } }) => id);
        for (const [at, id] of waiting.entries()) {
          const queue = explain(record, id)?.queue;
          expect([queue?.position, queue?.length]).toEqual([at + 1, waiting.length]);
          expect(queue?.ahead.map(({ allocation }) => allocation)).toEqual(waiting.slice(0, Math.min(5, at)));
          expect(queue?.ahead.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5].slice(0, at));
          expect(queue?.scores).toEqual(record.result.scores.get(id));
          const own = record.result.reservations.find(({ allocation }) => allocation === id);
          expect(queue?.reservation?.startsAt).toBe(own?.startsAt);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("every reason", () => {
  it("is true of the plan, and the same on demand", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(someInput, (given) => {
        const record = recordOf(given);
        const { draft } = record.decision;
        for (const pending of given.pending) {
          const reasons = record.result.reasons.get(pending.id) ?? [];
          expect(reasonsFor(given, pending.id)).toEqual(reasons);
          const own = jobOn(draft, pending);
          const free = draft.machine.nodes.filter(
            (each, at) => matches(pending, each) && (draft.availableFrom[at] as number) <= given.now,
          ).length;
          for (const { code, text } of reasons) {
            seen.set(code, (seen.get(code) ?? 0) + 1);
            expect(text).toMatch(/^[A-Z1-9].*\.$/);
            if (code === "no_matching_nodes") expect(isFeasible(draft.machine, own)).toBe(false);
            if (code === "busy") expect(free < own.nodesNeeded || own.match.required?.length !== 0).toBe(true);
            if (code === "reserved") expect(free).toBeGreaterThanOrEqual(own.nodesNeeded);
            if (code === "reserved") expect(draft.reservations.length).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: 150 },
    );
    for (const code of ["no_matching_nodes", "busy", "reserved", "quota_nodes", "quota_allocations", "priority"])
      expect([code, (seen.get(code) ?? 0) > 0]).toEqual([code, true]);
  });
});

describe("blockers", () => {
  const nodes = ["a", "b", "c", "d", "e", "f", "g"].map((id) => node(id));
  const given = { nodes: [...nodes, busy("z")], releases: [release(60, "z")] };
  /** A draft with this many reservations, each of z and one free node. */
  const draftWith = (count: number) => {
    const draft = draftOf(given);
    for (let i = 0; i < count; i += 1) {
      const constraints = { requiredNodes: nodeIds(nodes[i]?.id ?? "", "z") };
      const found = findReservation(draft, jobFrom(draft, 10 + i, { nodes: 2, minutes: 9.5, constraints }));
      if (found === null) throw new Error("no reservation");
      addReservation(draft, found);
    }
    return draft;
  };

  it.each([
    { count: 0, minutes: 600, expected: null },
    { count: 1, minutes: 600, expected: "1 of them reserved for 10 (starts in 1 h)" },
    { count: 1, minutes: 30, expected: null },
    { count: 2, minutes: 600, expected: "2 of them reserved for 10 (starts in 1 h), 11 (starts in 1 h 10 min)" },
    { count: 2, minutes: 65, expected: "1 of them reserved for 10 (starts in 1 h)" },
  ])("of $count reservations and a job of $minutes minutes: $expected", ({ count, minutes, expected }) => {
    const draft = draftWith(count);
    expect(createBlockers(draft).text(jobFrom(draft, 1, { minutes }))).toBe(expected);
  });

  it("beyond the fifth are counted", () => {
    const draft = draftWith(7);
    expect(createBlockers(draft).text(jobFrom(draft, 1, { minutes: 600 }))).toMatch(
      /^7 of them reserved for 10 \(.*14 \(starts in 1 h 40 min\) and 2 more$/,
    );
  });

  it("never include its own reservation, or nodes that it cannot use", () => {
    const draft = draftWith(1);
    const blockers = createBlockers(draft);
    expect(blockers.text(jobFrom(draft, 10, { minutes: 600 }))).toBeNull();
    expect(blockers.text(jobFrom(draft, 2, { minutes: 600, constraints: { excludedNodes: nodeIds("a") } }))).toBeNull();
  });
});

describe("an explanation", () => {
  it("names the victims of a preemption, and the number of jobs ahead", () => {
    const pending = [
      job(1, { class: 9, nodes: 1, waited: 5 }),
      job(2, { class: 9, nodes: 1 }),
      job(3, { nodes: 1, class: 1 }),
    ];
    const record = recordOf(input({ nodes: [busy("a")], releases: [release(60, "a")], pending, isFifo: true }));
    const causesOf = (id: number) => explain(record, allocationId(id))?.causes.map(({ text }) => text) ?? [];
    expect(causesOf(1)).toEqual(["Needs 1 node; 1 match, 0 of them free now."]);
    expect(causesOf(2)).toContain("1 allocation is ahead of it in the queue.");
    expect(causesOf(3)).toContain("2 allocations are ahead of it in the queue.");
  });
});
