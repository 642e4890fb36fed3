// The hard limits in addition to the nodes: power, storage bandwidth, span over groups, conformance.

import type { GroupId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle } from "../../src/index.ts";
import { allocationId, busy, input, type JobFields, job, MINUTE, NOW, node, nodesIn, release } from "../make.ts";

const outcome = (given: Partial<CycleInput>): { placed: string[]; held: string[]; codes: string[] } => {
  const { placements, reservations, reasons } = cycle(input({ isFifo: true, ...given }));
  return {
    placed: placements.map(({ allocation, nodes }) => `${allocation}: ${nodes.join(" ")}`),
    held: reservations.map(
      ({ allocation, startsAt, nodes }) => `${allocation}@${(startsAt - NOW) / MINUTE}: ${nodes.join(" ")}`,
    ),
    codes: [...reasons.values()].flat().map(({ code }) => code),
  };
};

describe("the power limit", () => {
  const powered = ["a", "b", "c", "d"].map((id) => node(id, { powerWatts: 500 }));

  it("is never exceeded, and a start beyond it is reserved for later with its reason", () => {
    const given = {
      nodes: powered,
      pending: [job(1, { nodes: 2, minutes: 9.5, waited: 2 }), job(2, { nodes: 2, waited: 1 })],
      signals: { power: { limit: 2000, used: 600 } },
    };
    expect(outcome(given)).toEqual({ placed: ["1: a b"], held: ["2@10: a b"], codes: ["power"] });
  });

  it("reduces a range", () => {
    const given = {
      nodes: powered,
      pending: [job(1, { nodes: 1, max: 4 })],
      signals: { power: { limit: 2000, used: 400 } },
    };
    expect(outcome(given).placed).toEqual(["1: a b c"]);
  });

  it("is kept for a reservation against backfill", () => {
    const given = {
      nodes: [...powered, busy("e", { powerWatts: 500 }), busy("f", { powerWatts: 500 })],
      releases: [release(60, "e", "f")],
      pending: [job(1, { nodes: 5, waited: 2 }), job(2, { minutes: 600, waited: 1 }), job(3, { minutes: 30 })],
      signals: { power: { limit: 2500, used: 1000 } },
    };
    const { placed, held } = outcome(given);
    expect(placed).toEqual(["3: a"]);
    expect(held).toEqual(["1@60: a b c e f"]);
  });

  it("does not count nodes without a power figure", () => {
    const given = { nodes: [node("a")], pending: [job(1)], signals: { power: { limit: 10, used: 9 } } };
    expect(outcome(given).placed).toEqual(["1: a"]);
  });
});

describe("the limit of storage bandwidth", () => {
  it("is never exceeded, and is released with the jobs that use it", () => {
    const given = {
      nodes: [node("a"), node("b"), busy("c")],
      releases: [{ ...release(60, "c"), storageMBps: 700 }],
      pending: [job(1, { waited: 1, constraints: { storageMBps: 800 } }), job(2)],
      signals: { storage: { limit: 1000, used: 700 } },
    };
    expect(outcome(given)).toEqual({ placed: ["2: a"], held: ["1@60: c"], codes: ["storage"] });
  });

  it("counts requests where use is not measured, and its reason states the rest", () => {
    const given = {
      nodes: [node("a"), node("b"), busy("c")],
      releases: [{ ...release(60, "c"), storageMBps: 700 }],
      pending: [
        job(1, { waited: 2, constraints: { storageMBps: 200 } }),
        job(2, { waited: 1, constraints: { storageMBps: 200 } }),
      ],
      signals: { storage: { limit: 1000, used: null } },
    };
    expect(outcome(given)).toEqual({ placed: ["1: a"], held: ["2@10.5: a"], codes: ["storage"] });
    const [reason] = cycle(input({ isFifo: true, ...given })).reasons.get(allocationId(2)) ?? [];
    expect(reason?.text).toBe("Needs 200 MB/s of storage; 100 MB/s are left until it would end.");
  });
});

describe("a bound on groups", () => {
  const nodes = [...nodesIn("g1", "a1", "a2"), ...nodesIn("g2", "b1", "b2"), ...nodesIn("g3", "c1", "c2")];
  const partly = nodes.map((each) => (each.id.endsWith("2") ? { ...each, free: false, notFreeBecause: "busy" } : each));
  const releases = [release(60, "a2", "b2"), release(30, "c2")];

  it("makes a tight request wait for as few groups as it would need on an empty machine", () => {
    const tight = [job(1, { nodes: 2, constraints: { topology: "tight" } })];
    expect(outcome({ nodes: partly, releases, pending: tight })).toEqual({
      placed: [],
      held: ["1@30: c1 c2"],
      codes: ["topology"],
    });
    expect(outcome({ nodes: partly, releases, pending: [job(1, { nodes: 2 })] }).placed).toEqual(["1: a1 b1"]);
  });

  it("applies to a range too", () => {
    const pending = [job(1, { nodes: 1, max: 6, constraints: { maxGroups: 2 } })];
    expect(outcome({ nodes, pending }).placed).toEqual(["1: a1 a2 b1 b2"]);
  });

  it("is reported when it can never be met", () => {
    const pending = [job(1, { nodes: 5, constraints: { maxGroups: 2 } })];
    expect(outcome({ nodes, pending }).codes).toEqual(["no_matching_nodes"]);
  });
});

describe("a conformance requirement", () => {
  const nodes = [
    node("a", { conformance: "x" }),
    node("b", { conformance: "y" }),
    node("c", { conformance: "" }),
    busy("d", { conformance: "y" }),
  ];
  const releases = [release(60, "d")];
  const wants = (fields: JobFields) => [job(1, { constraints: { requireConformance: true }, ...fields })];

  it("waits for nodes with equal fingerprints", () => {
    expect(outcome({ nodes, releases, pending: wants({ nodes: 2 }) })).toEqual({
      placed: [],
      held: ["1@60: b d"],
      codes: ["topology"],
    });
    expect(outcome({ nodes, releases, pending: wants({ nodes: 3 }) }).codes).toEqual(["no_matching_nodes"]);
    expect(outcome({ nodes, releases, pending: [job(1, { nodes: 2 })] }).placed).toHaveLength(1);
  });

  it("is met by the largest part of a range with equal fingerprints", () => {
    expect(outcome({ nodes, pending: wants({ nodes: 1, max: 3 }) }).placed).toEqual(["1: a"]);
  });

  it("is not needed to place drifted and unknown nodes last", () => {
    const drifted = ["a", "b", "c", "d", "e"].map((id, i) =>
      node(id, { conformance: ["", "old", "x", "x", "x"][i] ?? "" }),
    );
    const pending = Array.from({ length: 5 }, (_, i) => job(i + 1, { waited: 5 - i }));
    expect(outcome({ nodes: drifted, pending }).placed).toEqual(["1: c", "2: d", "3: e", "4: b", "5: a"]);
  });
});

describe("the choice of groups", () => {
  const nodes = [...nodesIn("g9", "a1", "a2"), ...nodesIn("g10", "b1", "b2"), ...nodesIn("g11", "c1", "c2", "c3")];

  it("avoids a congested group when another serves as well", () => {
    const congestion = new Map([["g9" as GroupId, 0.8]]);
    expect(outcome({ nodes, pending: [job(1, { nodes: 2 })], signals: { congestion } }).placed).toEqual(["1: b1 b2"]);
    expect(outcome({ nodes, pending: [job(1, { nodes: 2 })] }).placed).toEqual(["1: a1 a2"]);
  });

  it("does not avoid congestion for an inefficient job", () => {
    const congestion = new Map([["g9" as GroupId, 0.8]]);
    const efficiency = new Map([[allocationId(1), 0.1]]);
    const pending = [job(1, { nodes: 2 })];
    expect(outcome({ nodes, pending, signals: { congestion, efficiency } }).placed).toEqual(["1: a1 a2"]);
  });

  it("orders neighbours by number, not by text", () => {
    expect(outcome({ nodes, pending: [job(1, { nodes: 4 })] }).placed).toEqual(["1: a1 a2 b1 b2"]);
    const gap = nodes.filter((each) => each.group !== ("g10" as GroupId));
    expect(outcome({ nodes: [...gap, ...nodesIn("g12", "d1", "d2")], pending: [job(1, { nodes: 4 })] }).placed).toEqual(
      ["1: a1 a2 c1 c2"],
    );
  });
});
