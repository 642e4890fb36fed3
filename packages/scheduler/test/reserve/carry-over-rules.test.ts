// Whether a reservation of the previous cycle is carried over: one rule at a time, on the draft.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createPlan } from "../../src/backfill/plan-context.ts";
import { RESERVATION_LIMIT } from "../../src/base/bounds.ts";
import { type CycleInput, createCycleCache, cycle, type Reservation } from "../../src/index.ts";
import { addForeignReservations, carryOverReservations, reservationDepth } from "../../src/reserve/carry-over.ts";
import { draftOf } from "../drafts.ts";
import {
  allocationId,
  busy,
  input,
  type JobFields,
  job,
  MINUTE,
  NOW,
  node,
  nodeIds,
  promise,
  release,
  tenant,
} from "../make.ts";

const half: Partial<CycleInput> = {
  nodes: [node("a"), node("b"), busy("c", { gpuCount: 4 }), busy("d")],
  releases: [release(60, "c", "d")],
};

/** Carries the reservations over; which are kept, and which owners lost theirs. */
function carry(given: Partial<CycleInput>): { kept: string[]; displaced: string[] } {
  const full = input(given);
  const draft = draftOf(full);
  addForeignReservations(draft, full);
  const plan = createPlan(full, draft);
  if (plan === null) throw new Error("the queue was not ordered");
  const displaced = carryOverReservations(draft, full, plan);
  return {
    kept: draft.reservations
      .filter(({ job: { input: owner } }) => !displaced.has(owner))
      .map(
        ({ job: { input: owner }, startsAt, nodes }) =>
          `${owner.id}@${(startsAt - NOW) / MINUTE}: ${nodes.map((at) => draft.machine.nodes[at]?.id).join(" ")}`,
      ),
    displaced: [...displaced].map(({ id }) => id),
  };
}

/** Nodes of 100 W each, with this much power left until c and d return theirs. */
const powered = (left: number): Partial<CycleInput> => ({
  nodes: (half.nodes ?? []).map((each) => ({ ...each, powerWatts: 100 })),
  signals: { power: { limit: 1000 + left, used: 1000 } },
});

describe("a reservation of the previous cycle", () => {
  const cases: {
    name: string;
    given?: Partial<CycleInput>;
    fields?: JobFields;
    previous?: Reservation;
    kept: boolean;
  }[] = [
    { name: "is kept while its nodes will be available", kept: true },
    { name: "is lost with a node that is gone", previous: promise(1, 60, "c", "zz"), kept: false },
    {
      name: "is lost when a node is released later",
      given: { releases: [release(60, "c"), release(61, "d")] },
      kept: false,
    },
    {
      name: "is kept when a node is released earlier",
      given: { releases: [release(60, "c"), release(10, "d")] },
      kept: true,
    },
    {
      name: "is lost when a node is drained",
      given: { nodes: [node("a"), node("b"), busy("c"), busy("d", { usable: false })] },
      kept: false,
    },
    { name: "is lost when it has too few nodes", fields: { nodes: 3 }, kept: false },
    { name: "is lost when it has too many nodes", fields: { nodes: 1 }, kept: false },
    { name: "is kept with a number of nodes within its range", fields: { nodes: 1, max: 3 }, kept: true },
    { name: "is lost when a node no longer fits", fields: { nodes: 2, constraints: { gpuCount: 4 } }, kept: false },
    {
      name: "is lost when a node is excluded now",
      fields: { nodes: 2, constraints: { excludedNodes: nodeIds("d") } },
      kept: false,
    },
    {
      name: "is kept when another node is excluded now",
      fields: { nodes: 2, constraints: { excludedNodes: nodeIds("a") } },
      kept: true,
    },
    {
      name: "is lost without a node that is required now",
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("a") } },
      kept: false,
    },
    {
      name: "is kept with the node that is required now",
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("d") } },
      kept: true,
    },
    {
      name: "is lost when its tenant has no headroom",
      given: { tenants: [tenant("physics", { maxNodes: 1 })] },
      kept: false,
    },
    { name: "is kept with exactly its headroom", given: { tenants: [tenant("physics", { maxNodes: 2 })] }, kept: true },
    {
      name: "is lost when another vCluster has reserved a node meanwhile",
      given: { foreignReservations: [{ startsAt: instant(NOW + 65 * MINUTE), endsAt: null, nodes: nodeIds("d") }] },
      kept: false,
    },
    {
      name: "is kept when another vCluster needs the node only after it",
      given: { foreignReservations: [{ startsAt: instant(NOW + 70.5 * MINUTE), endsAt: null, nodes: nodeIds("d") }] },
      kept: true,
    },
    {
      name: "is kept when another vCluster leaves the node before it",
      given: {
        foreignReservations: [{ startsAt: instant(NOW), endsAt: instant(NOW + 60 * MINUTE), nodes: nodeIds("d") }],
      },
      kept: true,
    },
    { name: "is lost when power does not suffice at its start", given: powered(-1), kept: false },
    { name: "is kept when power just suffices at its start", given: powered(0), kept: true },
    {
      name: "is lost when storage does not suffice",
      given: { signals: { storage: { limit: 99, used: 0 } } },
      fields: { nodes: 2, constraints: { storageMBps: 100 } },
      kept: false,
    },
    {
      name: "is kept when storage just suffices",
      given: { signals: { storage: { limit: 100, used: 0 } } },
      fields: { nodes: 2, constraints: { storageMBps: 100 } },
      kept: true,
    },
    { name: "is lost in a vCluster without backfill", given: { backfillDepth: 0 }, kept: false },
  ];
  it.each(cases)("$name", ({ given = {}, fields = { nodes: 2 }, previous = promise(1, 60, "c", "d"), kept }) => {
    const result = carry({ ...half, pending: [job(1, fields)], previousReservations: [previous], ...given });
    expect(result.kept).toEqual(kept ? ["1@60: c d"] : []);
    expect(result.displaced).toEqual(kept || given.backfillDepth === 0 ? [] : ["1"]);
  });

  it("that is due moves to now where its nodes are free, and is lost otherwise", () => {
    const pending = [job(1, { nodes: 2 })];
    const due = (...nodes: string[]) =>
      carry({ ...half, pending, previousReservations: [promise(1, -5, ...nodes)] }).kept;
    expect(due("a", "b")).toEqual(["1@0: a b"]);
    expect(due("b", "c")).toEqual([]);
  });

  it("is reported as the same object while nothing about it has changed", () => {
    const previous = promise(1, 60, "c", "d");
    const given = input({
      ...half,
      pending: [job(1, { nodes: 2, constraints: { excludedNodes: nodeIds("a", "b") } })],
    });
    const { reservations } = cycle({ ...given, previousReservations: [previous] });
    expect(reservations[0]).toBe(previous);
  });

  it("with an unknown owner is dropped", () => {
    expect(carry({ ...half, pending: [job(2)], previousReservations: [promise(1, 60, "c")] })).toEqual({
      kept: [],
      displaced: [],
    });
  });
});

describe("several reservations of the previous cycle", () => {
  const nodes = ["a", "b", "c"].map((id) => busy(id));
  const releases = [release(30, "a", "b", "c")];
  const pending = [1, 2, 3].map((id) => job(id, { minutes: 10 }));

  it.each([
    { depth: 1, kept: ["2@30: b"], displaced: ["3", "1"] },
    { depth: 2, kept: ["2@30: b", "3@30: c"], displaced: ["1"] },
    { depth: 3, kept: ["2@30: b", "3@30: c", "1@40: a"], displaced: [] },
  ])("are kept by start, then by number, up to a depth of $depth", ({ depth, kept, displaced }) => {
    const previousReservations = [promise(1, 40, "a"), promise(3, 30, "c"), promise(2, 30, "b")];
    expect(carry({ nodes, releases, pending, previousReservations, backfillDepth: depth })).toEqual({
      kept,
      displaced,
    });
  });

  it("with a common node are kept for the first only", () => {
    const previousReservations = [promise(1, 30, "a"), promise(2, 40, "a"), promise(3, 40.5, "a")];
    const { kept } = carry({ nodes, releases, pending, previousReservations, backfillDepth: 9 });
    expect(kept).toEqual(["1@30: a", "3@40.5: a"]);
  });

  it("are limited in number, whatever the depth", () => {
    expect(reservationDepth(input({ backfillDepth: 7 }))).toBe(7);
    expect(reservationDepth(input({ backfillDepth: 1e6 }))).toBe(RESERVATION_LIMIT);
  });
});

describe("a challenger", () => {
  const owner = job(1, { nodes: 2, class: 5 });
  const outcome = (challenger: JobFields, minutes = 60, rest: Partial<CycleInput> = {}): boolean => {
    const nodes = minutes <= 0 ? ["a", "b"] : ["c", "d"];
    const pending = [owner, job(2, challenger)];
    const previousReservations = [promise(1, minutes, ...nodes)];
    const [kept, keptInOtherOrder] = [pending, pending.toReversed()].map(
      (listed) => carry({ ...half, pending: listed, previousReservations, ...rest }).kept.length === 1,
    );
    expect(keptInOtherOrder, "with the challenger first in the input").toBe(kept);
    return kept === true;
  };
  it.each([
    { name: "with the same score leaves it", challenger: { nodes: 2 }, kept: true },
    { name: "with a better score leaves it", challenger: { nodes: 2, waited: 6000 }, kept: true },
    { name: "of a lower class ahead leaves it", challenger: { nodes: 2, class: 4, waited: 6000 }, kept: true },
    { name: "of a higher class ahead in the queue displaces it", challenger: { nodes: 2, class: 6 }, kept: false },
  ])("$name", ({ challenger, kept }) => {
    expect(outcome(challenger)).toBe(kept);
  });

  it("of a higher class behind in the queue leaves it", () => {
    const waiting = { ...owner, submittedAt: instant(NOW - 600 * MINUTE) };
    const pending = [waiting, job(2, { nodes: 2, class: 6 })];
    expect(carry({ ...half, pending, previousReservations: [promise(1, 60, "c", "d")] }).kept).toHaveLength(1);
  });

  it("ahead of others of its class decides for them, in any order of the input", () => {
    const later = instant(NOW - 60 * MINUTE);
    const waiting = { ...owner, submittedAt: later };
    const [weak, strong] = [job(2, { nodes: 2, class: 6 }), job(3, { nodes: 2, class: 6, waited: 90 })];
    const previousReservations = [promise(1, 60, "c", "d")];
    for (const pending of [
      [waiting, weak, strong],
      [strong, weak, waiting],
      [weak, strong, waiting],
    ])
      expect(carry({ ...half, pending, previousReservations }).kept).toEqual([]);
  });

  it("displaces a reservation that is due only when it is of a higher class", () => {
    expect(outcome({ nodes: 2, waited: 600 }, 0)).toBe(true);
    expect(outcome({ nodes: 2, waited: 600, class: 6 }, 0)).toBe(false);
  });

  it("with its own reservation displaces no other", () => {
    const pending = [owner, job(2, { nodes: 1, waited: 600, class: 9 })];
    const previousReservations = [promise(1, 60, "c", "d"), promise(2, 60, "a")];
    expect(carry({ ...half, pending, previousReservations, backfillDepth: 2 }).kept).toHaveLength(2);
  });

  it("in submission order displaces a reservation only when it is of a higher class", () => {
    expect(outcome({ nodes: 2, waited: 600 }, 60, { isFifo: true })).toBe(true);
    expect(outcome({ nodes: 2, waited: 600, class: 6 }, 60, { isFifo: true })).toBe(false);
  });
});

describe("reservations of other vClusters", () => {
  it("are ignored after their end", () => {
    const draft = draftOf(half);
    const ended = { startsAt: instant(NOW - 9), endsAt: instant(NOW), nodes: nodeIds("a") };
    addForeignReservations(draft, input({ foreignReservations: [ended] }));
    expect(draft.reservedIntervals.all()).toEqual([]);
    expect(draft.hasForeignReservations).toBe(false);
    addForeignReservations(draft, input({ foreignReservations: [{ ...ended, endsAt: instant(NOW + 1) }] }));
    expect(draft.reservedIntervals.all()).toEqual([{ startsAt: NOW - 9, endsAt: NOW + 1, nodes: [0] }]);
    expect(draft.hasForeignReservations).toBe(true);
  });

  it("are the same with and without the cache of an earlier cycle", () => {
    const cache = createCycleCache();
    const foreignReservations = [{ startsAt: NOW, endsAt: instant(NOW + 30 * MINUTE), nodes: nodeIds("b", "a") }];
    const given = input({ ...half, pending: [job(1, { nodes: 2 })], foreignReservations });
    for (let i = 0; i < 3; i += 1) expect(cycle({ ...given, cache })).toEqual(cycle(given));
    expect(cycle(given).estimates.get(allocationId(1))).toBe(NOW + 30 * MINUTE);
  });
});
