// Reservations across cycles and across vClusters.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import type { ForeignReservation } from "../src/index.ts";
import { cycle } from "../src/index.ts";
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
} from "./make.ts";

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

describe("promises of the cycle before", () => {
  it("keep their nodes though others would be as good", () => {
    const pending = [job(1, { nodes: 3 })];
    expect(outcomeOf({ ...half, pending }).held).toEqual(["1@60: a c d"]);
    expect(outcomeOf({ ...half, pending, previous: [promise(1, 60, "b", "c", "d")] }).held).toEqual(["1@60: b c d"]);
  });

  it("are bettered when that is possible", () => {
    const previous = [promise(1, 90, "b", "c", "d")];
    expect(outcomeOf({ ...half, pending: [job(1, { nodes: 3 })], previous }).held).toEqual(["1@60: a c d"]);
  });

  it("stand before a newcomer with a somewhat better score, and give way to a far better one", () => {
    const pending = [job(1, { nodes: 4 }), job(2, { nodes: 2, minutes: 600, waited: 20 })];
    expect(outcomeOf({ ...half, pending }).placed).toEqual(["2: a b"]);
    const kept = outcomeOf({ ...half, pending, previous: [promise(1, 60, "a", "b", "c", "d")] });
    expect(kept).toEqual({ placed: [], held: ["1@60: a b c d"] });
    const far = [job(1, { nodes: 4 }), job(2, { nodes: 2, minutes: 600, waited: 600 })];
    const pushed = outcomeOf({ ...half, pending: far, previous: [promise(1, 60, "a", "b", "c", "d")] });
    expect(pushed.placed).toEqual(["2: a b"]);
  });

  it("give way to a higher class that goes first", () => {
    const pending = [job(1, { nodes: 4, class: 3 }), job(2, { nodes: 2, minutes: 600, waited: 600, class: 7 })];
    const pushed = outcomeOf({ ...half, pending, previous: [promise(1, 60, "a", "b", "c", "d")] });
    expect(pushed.placed).toEqual(["2: a b"]);
  });

  it("are made anew when a node will not be there", () => {
    const late = { ...half, releases: [release(60, "c"), release(90, "d")] };
    const previous = [promise(1, 60, "a", "b", "c", "d")];
    expect(outcomeOf({ ...late, pending: [job(1, { nodes: 4 })], previous }).held).toEqual(["1@90: a b c d"]);
  });

  it("are dropped with their owner, or when it has no headroom", () => {
    const previous = [promise(1, 60, "a", "b", "c", "d")];
    const long = job(2, { nodes: 2, minutes: 600 });
    expect(outcomeOf({ ...half, pending: [long], previous }).placed).toEqual(["2: a b"]);
    const tenants = [tenant("physics", { maxNodes: 3 })];
    expect(outcomeOf({ ...half, tenants, pending: [job(1, { nodes: 4 }), long], previous }).placed).toEqual(["2: a b"]);
  });

  it("whose time has come start", () => {
    const previous = [promise(1, -1, "a", "b")];
    const pending = [job(1, { nodes: 2 }), job(2, { nodes: 2, waited: 600 })];
    expect(outcomeOf({ ...half, pending, previous }).placed).toEqual(["1: a b"]);
  });

  it("count towards the depth", () => {
    const previous = [promise(1, 60, "a", "b", "c", "d")];
    const pending = [job(1, { nodes: 4 }), job(2, { nodes: 3, waited: 20, minutes: 600 })];
    expect(outcomeOf({ ...half, pending, previous }).held).toEqual(["1@60: a b c d"]);
  });
});

describe("reservations of other vClusters", () => {
  it("keep long work off, and let short work by", () => {
    const pending = [job(1, { minutes: 20 }), job(2, { minutes: 600 })];
    const given = { nodes: [node("a"), node("b")], pending, foreign: [foreign(30, 90, "a", "b")] };
    expect(outcomeOf(given)).toEqual({ placed: ["1: a"], held: ["2@90: a"] });
  });

  it("that never end keep it off for good", () => {
    const given = { nodes: [node("a")], pending: [job(1, { minutes: 60 })], foreign: [foreign(30, null, "a")] };
    expect(outcomeOf(given)).toEqual({ placed: [], held: [] });
  });

  it("are never moved, unlike one's own", () => {
    const pending = [job(1, { minutes: 600, constraints: { requiredNodes: nodeIds("a") } })];
    const given = { nodes: [node("a"), node("b")], pending, foreign: [foreign(30, 90, "a")] };
    expect(outcomeOf(given)).toEqual({ placed: [], held: ["1@90: a"] });
  });

  it("are named in the reasons", () => {
    const given = { nodes: [node("a")], pending: [job(1, { minutes: 60 })], foreign: [foreign(30, 90, "a")] };
    const [reason] = cycle(input(given)).reasons.get(allocationId(1)) ?? [];
    expect(reason?.text).toBe("Needs 1 node; 1 match and are free, 1 of them held for other vClusters.");
  });
});
