// Reservations across cycles and across vClusters.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import type { ForeignReservation } from "../../src/index.ts";
import { cycle } from "../../src/index.ts";
import {
  allocationId,
  busy,
  input,
  job,
  MINUTE,
  NOW,
  node,
  nodeIds,
  outcomeOf,
  promise,
  release,
  tenant,
} from "../make.ts";

const foreign = (from: number, to: number | null, ...nodes: string[]): ForeignReservation => ({
  startsAt: instant(NOW + from * MINUTE),
  endsAt: to === null ? null : instant(NOW + to * MINUTE),
  nodes: nodeIds(...nodes),
});

// Two free, two back in an hour.
const half = {
  nodes: [node("a"), node("b"), busy("c"), busy("d")],
  releases: [release(60, "c", "d")],
};

describe("reservations of the previous cycle", () => {
  it("keep their nodes even when other nodes are as good", () => {
    const pending = [job(1, { nodes: 3 })];
    expect(outcomeOf({ ...half, pending }).held).toEqual(["1@60: a c d"]);
    expect(outcomeOf({ ...half, pending, previousReservations: [promise(1, 60, "b", "c", "d")] }).held).toEqual([
      "1@60: b c d",
    ]);
  });

  it("move earlier when that is possible", () => {
    const previousReservations = [promise(1, 90, "b", "c", "d")];
    expect(outcomeOf({ ...half, pending: [job(1, { nodes: 3 })], previousReservations }).held).toEqual(["1@60: a c d"]);
  });

  it("give way to no better score of their class", () => {
    const pending = [job(1, { nodes: 4 }), job(2, { nodes: 2, minutes: 600, waited: 600 })];
    expect(outcomeOf({ ...half, pending }).placed).toEqual(["2: a b"]);
    const kept = outcomeOf({ ...half, pending, previousReservations: [promise(1, 60, "a", "b", "c", "d")] });
    expect(kept).toEqual({ placed: [], held: ["1@60: a b c d"] });
  });

  it("give way to a higher class ahead in the queue", () => {
    const pending = [job(1, { nodes: 4, class: 3 }), job(2, { nodes: 2, minutes: 600, waited: 600, class: 7 })];
    const pushed = outcomeOf({ ...half, pending, previousReservations: [promise(1, 60, "a", "b", "c", "d")] });
    expect(pushed.placed).toEqual(["2: a b"]);
  });

  it("are replaced when a node will not be available", () => {
    const late = { ...half, releases: [release(60, "c"), release(90, "d")] };
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    expect(outcomeOf({ ...late, pending: [job(1, { nodes: 4 })], previousReservations }).held).toEqual([
      "1@90: a b c d",
    ]);
  });

  it("are replaced before any other job gets its turn", () => {
    const late = { ...half, releases: [release(60, "c"), release(90, "d")] };
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    const pending = [job(1, { nodes: 4 }), job(2, { nodes: 2, minutes: 600, waited: 600 })];
    expect(outcomeOf({ ...late, pending }).placed).toEqual(["2: a b"]);
    expect(outcomeOf({ ...late, pending, previousReservations })).toEqual({ placed: [], held: ["1@90: a b c d"] });
  });

  it("stay while the tenant's quota is in use until their start", () => {
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    const tenants = [tenant("physics", { maxNodes: 4, nodesInUse: 2 })];
    const { placed, held } = outcomeOf({ ...half, tenants, pending: [job(1, { nodes: 4 })], previousReservations });
    expect({ placed, held }).toEqual({ placed: [], held: ["1@60: a b c d"] });
  });

  it("keep their tenant's quota from jobs that end after their start", () => {
    const nodes = [...half.nodes, node("e"), node("f")];
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    const tenants = [tenant("physics", { maxNodes: 4 }), tenant("chemistry")];
    const long = { nodes: 1, minutes: 600 } as const;
    const others = [job(2, long), job(3, { nodes: 1, minutes: 30 }), job(4, { ...long, tenant: "chemistry" })];
    const wide = job(1, { nodes: 4, constraints: { requiredNodes: nodeIds("a", "b", "c", "d") } });
    const given = { ...half, nodes, tenants, pending: [wide, ...others] };
    expect(outcomeOf({ ...given, previousReservations })).toEqual({
      placed: ["3: a", "4: e"],
      held: ["1@60: a b c d"],
    });
  });

  it("of other vClusters keep their tenant's quota too", () => {
    const nodes = [...half.nodes, node("e"), node("f")];
    const tenants = [tenant("physics", { maxNodes: 4 }), tenant("chemistry")];
    const long = { nodes: 1, minutes: 600 } as const;
    const pending = [job(2, long), job(3, { nodes: 1, minutes: 30 }), job(4, { ...long, tenant: "chemistry" })];
    const placedBeside = (owner: string) => {
      const foreignReservations = [{ ...foreign(60, null, "a", "b", "c", "d"), tenant: tenant(owner).id }];
      return outcomeOf({ ...half, nodes, tenants, pending, foreignReservations }).placed.map((text) => text[0]);
    };
    expect(placedBeside("physics")).toEqual(["3", "4"]);
    expect(placedBeside("chemistry")).toEqual(["2", "3", "4"]);
  });

  it("are dropped with their owner, or when it may never have so many nodes", () => {
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    const long = job(2, { nodes: 2, minutes: 600 });
    expect(outcomeOf({ ...half, pending: [long], previousReservations }).placed).toEqual(["2: a b"]);
    const tenants = [tenant("physics", { maxNodes: 3 })];
    expect(outcomeOf({ ...half, tenants, pending: [job(1, { nodes: 4 }), long], previousReservations }).placed).toEqual(
      ["2: a b"],
    );
  });

  it("start when they are due", () => {
    const previousReservations = [promise(1, -1, "a", "b")];
    const pending = [job(1, { nodes: 2 }), job(2, { nodes: 2, waited: 600 })];
    expect(outcomeOf({ ...half, pending, previousReservations }).placed).toEqual(["1: a b"]);
  });

  it("never overlap, also when an identical job ahead could start where one of them was moved away", () => {
    const nodes = [node("a"), busy("c"), busy("d")];
    const long = { minutes: 600 } as const;
    const pending = [job(1, { ...long, waited: 9 }), job(2, long), job(3, { ...long, nodes: 2 })];
    const previousReservations = [promise(2, 60, "c"), promise(3, 60, "a", "d")];
    const given = { nodes, releases: [release(60, "c", "d")], pending, previousReservations, backfillDepth: 3 };
    // A start on a moves the reservation of 3 onto c: 2 would lose its own there if 1 took the start.
    expect(outcomeOf(given)).toEqual({ placed: ["2: a"], held: ["3@60: c d", "1@660.5: c"] });
  });

  it("are carried over by start, not by the order of the list, up to the depth", () => {
    const previousReservations = [promise(2, 60, "c", "d"), promise(1, 60, "a", "b"), promise(3, 30, "a", "b")];
    const pending = [1, 2, 3].map((id) => job(id, { nodes: 2, minutes: 10, constraints: { gpuCount: 0 } }));
    const busyNodes = {
      nodes: [busy("a"), busy("b"), busy("c"), busy("d")],
      releases: [release(30, "a", "b", "c", "d")],
    };
    const { held } = outcomeOf({ ...busyNodes, pending, previousReservations, backfillDepth: 1 });
    expect(held).toEqual(["3@30: a b"]);
  });

  it("count towards the depth", () => {
    const previousReservations = [promise(1, 60, "a", "b", "c", "d")];
    const pending = [job(1, { nodes: 4 }), job(2, { nodes: 3, waited: 20, minutes: 600 })];
    expect(outcomeOf({ ...half, pending, previousReservations }).held).toEqual(["1@60: a b c d"]);
  });
});

describe("reservations of other vClusters", () => {
  it("block long work, and let short work start", () => {
    const pending = [job(1, { minutes: 20 }), job(2, { minutes: 600 })];
    const given = { nodes: [node("a"), node("b")], pending, foreignReservations: [foreign(30, 90, "a", "b")] };
    expect(outcomeOf(given)).toEqual({ placed: ["1: a"], held: ["2@90: a"] });
  });

  it("without an end block long work forever", () => {
    const given = {
      nodes: [node("a")],
      pending: [job(1, { minutes: 60 })],
      foreignReservations: [foreign(30, null, "a")],
    };
    expect(outcomeOf(given)).toEqual({ placed: [], held: [] });
  });

  it("never move, unlike the plan's own", () => {
    const pending = [job(1, { minutes: 600, constraints: { requiredNodes: nodeIds("a") } })];
    const given = { nodes: [node("a"), node("b")], pending, foreignReservations: [foreign(30, 90, "a")] };
    expect(outcomeOf(given)).toEqual({ placed: [], held: ["1@90: a"] });
  });

  it("are named in the reasons", () => {
    const given = {
      nodes: [node("a")],
      pending: [job(1, { minutes: 60 })],
      foreignReservations: [foreign(30, 90, "a")],
    };
    const [reason] = cycle(input(given)).reasons.get(allocationId(1)) ?? [];
    expect(reason?.text).toBe("Needs 1 node; 1 match and are free, 1 of them reserved for other vClusters.");
  });
});
