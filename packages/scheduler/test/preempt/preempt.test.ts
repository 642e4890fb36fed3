// The victims of a preemption: one rule at a time.

import { type Duration, instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleResult, cycle, type VictimInput } from "../../src/index.ts";
import { allocationId, job, MINUTE, NOW, node, nodeIds, nodesIn, promise, tenant } from "../make.ts";
import { awaiting, full, running } from "./make.ts";

const four = nodesIn("g0", "a", "b", "c", "d");
const urgent = job(1, { class: 8, nodes: 2, minutes: 60 });
const stopped = ({ preemptions }: CycleResult): string[] =>
  preemptions.flatMap(({ victims }) => victims.map(({ allocation }) => String(allocation)));

describe("a preemption", () => {
  it("stops a lower class, names preemptor, reason and nodes, and expects the start soon", () => {
    const result = cycle(full(four, [running(11, ["a", "b", "c", "d"])], { pending: [urgent] }));
    expect(result.placements).toEqual([]);
    expect(result.preemptions).toEqual([
      {
        allocation: allocationId(1),
        victims: [{ allocation: allocationId(11), attempt: 1, reason: "priority" }],
        nodes: nodeIds("a", "b"),
        startsAt: instant(NOW + 30_000),
      },
    ]);
    expect(result.estimates.get(allocationId(1))).toBe(NOW + 30_000);
  });

  it.each([
    ["an equal class", running(11, ["a", "b", "c", "d"], { class: 8 })],
    ["a higher class", running(11, ["a", "b", "c", "d"], { class: 9 })],
    ["a victim that ends within five minutes", running(11, ["a", "b", "c", "d"], { began: 56, minutes: 60 })],
  ])("spares %s", (_, victim) => {
    expect(stopped(cycle(full(four, [victim], { pending: [urgent] })))).toEqual([]);
  });

  it.each([
    { preempted: 4, how: "", given: {}, gone: ["11"] },
    { preempted: 5, how: "", given: {}, gone: [] },
    { preempted: 5, how: " for a sensitive claim", given: { isSensitive: true }, gone: ["11"] },
  ])("of a victim preempted $preempted times before$how stops $gone", ({ preempted, given, gone }) => {
    const victim = running(11, ["a", "b", "c", "d"], { preempted });
    expect(stopped(cycle(full(four, [victim], { pending: [urgent], ...given })))).toEqual(gone);
  });

  it("stops a victim with checkpoints any number of times", () => {
    const victim = { ...running(11, ["a", "b", "c", "d"], { preempted: 9 }), checkpoints: true };
    expect(stopped(cycle(full(four, [victim], { pending: [urgent] })))).toEqual(["11"]);
  });

  it("returns lent nodes to their owner, however often the borrower was preempted", () => {
    const victim = running(11, ["a", "b", "c", "d"], { preempted: 9, borrows: true });
    expect(stopped(cycle(full(four, [victim], { pending: [urgent] })))).toEqual(["11"]);
  });

  it.each([
    { class: 8, maxNodes: 3, gone: [] },
    { class: 8, maxNodes: 4, gone: ["11"] },
    { class: 7, maxNodes: 3, gone: ["11"] },
  ])("keeps the quota of a reserved start unless that is of a lower class: $class, $maxNodes", (given) => {
    const on = (...nodes: string[]) => ({ requiredNodes: nodeIds(...nodes) });
    const reserved = job(2, { class: given.class, nodes: 2, constraints: on("a", "b") });
    const pending = [{ ...urgent, constraints: { ...urgent.constraints, ...on("c", "d") } }, reserved];
    const victims = [running(11, ["c", "d"]), running(12, ["a", "b"], { class: 9, minutes: 31 })];
    const previousReservations = [promise(2, 30.5, "a", "b")];
    const tenants = [tenant("physics", { maxNodes: given.maxNodes })];
    expect(stopped(cycle(full(four, victims, { pending, previousReservations, tenants })))).toEqual(given.gone);
  });

  it("prefers a victim that was preempted less often", () => {
    const often = running(11, ["a", "b"], { began: 10, preempted: 2 });
    const seldom = running(12, ["c", "d"], { began: 20 });
    expect(stopped(cycle(full(four, [often, seldom], { pending: [urgent] })))).toEqual(["12"]);
  });

  it("spares a victim near its end, by the time that the victim's vCluster sets", () => {
    const ending = running(11, ["a", "b", "c", "d"], { began: 56, minutes: 60 });
    const late = running(11, ["a", "b", "c", "d"], { began: 30, minutes: 60 });
    const told = (victim: VictimInput, minutes: number): string[] => {
      const nearCompletion = (minutes * MINUTE) as Duration;
      return stopped(cycle(full(four, [{ ...victim, nearCompletion }], { pending: [urgent] })));
    };
    expect([told(ending, 0), told(ending, 3), told(ending, 4)]).toEqual([["11"], ["11"], []]);
    expect([told(late, 29), told(late, 30)]).toEqual([["11"], []]);
  });

  it("stops no more victims than the vCluster allows, and no more than needed", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const small = names.map((name, i) => running(11 + i, [name]));
    const given = full(nodesIn("g0", ...names), small, { pending: [job(1, { class: 8, nodes: 5, minutes: 60 })] });
    expect(stopped(cycle(given))).toEqual([]);
    expect(stopped(cycle({ ...given, maxVictims: 4 }))).toEqual([]);
    expect(stopped(cycle({ ...given, maxVictims: 5 }))).toHaveLength(5);
    expect(stopped(cycle({ ...given, maxVictims: 64 }))).toHaveLength(5);
  });

  it("spares class 7 and above, except for victims with checkpoints", () => {
    const claim = job(1, { class: 10, nodes: 2 });
    const given = full(four, [running(11, ["a", "b", "c", "d"], { class: 7 })], { pending: [claim] });
    expect(stopped(cycle(given))).toEqual([]);
    const checkpointMinutes = new Map([[allocationId(11), 2]]);
    expect(stopped(cycle({ ...given, signals: { checkpointMinutes } }))).toEqual(["11"]);
  });

  it("does not happen where the job could start, or would start as soon without it", () => {
    const half = [running(11, ["a", "b"])];
    expect(cycle(full(four, half, { pending: [urgent] })).placements).toHaveLength(1);
    const ending = [running(11, ["a", "b", "c", "d"]), running(12, ["a"])];
    const releases = [{ allocation: allocationId(11), nodes: nodeIds("a", "b", "c", "d"), endsAt: instant(NOW - 1) }];
    expect(stopped(cycle({ ...full(four, ending, { pending: [urgent] }), releases }))).toEqual([]);
  });

  it("stops no victim for an allocation that waits for quota or can never fit", () => {
    const victims = [running(11, ["a", "b", "c", "d"])];
    const poor = [tenant("physics", { maxNodes: 1 }), tenant("biology")];
    expect(stopped(cycle(full(four, victims, { pending: [urgent], tenants: poor })))).toEqual([]);
    expect(stopped(cycle(full(four, victims, { pending: [job(1, { class: 8, nodes: 5 })] })))).toEqual([]);
  });

  it("prefers the lowest class, then the lowest cost, then the larger victim", () => {
    const one = job(1, { class: 8 });
    const classes = [
      running(11, ["a"], { class: 3 }),
      running(12, ["b"], { class: 1 }),
      running(13, ["c", "d"], { class: 2 }),
    ];
    expect(stopped(cycle(full(four, classes, { pending: [one] })))).toEqual(["12"]);
    const costs = [
      running(11, ["a"], { began: 90 }),
      running(12, ["b"], { began: 5 }),
      running(13, ["c"], { began: 30 }),
    ];
    expect(stopped(cycle(full(four.slice(0, 3), costs, { pending: [one] })))).toEqual(["12"]);
    const lost = [running(11, ["a"], { requeues: false, began: 1 }), running(12, ["b"], { began: 60 })];
    expect(stopped(cycle(full(four.slice(0, 2), lost, { pending: [one] })))).toEqual(["12"]);
  });

  it("prefers one large victim to several small, and stops at most three", () => {
    const small = [running(11, ["a"]), running(12, ["b"]), running(13, ["c", "d"], { began: 60 })];
    expect(stopped(cycle(full(four, small, { pending: [urgent] })))).toEqual(["13"]);
    const each = ["a", "b", "c", "d"].map((name, i) => running(11 + i, [name]));
    expect(stopped(cycle(full(four, each, { pending: [job(1, { class: 8, nodes: 4 })] })))).toEqual([]);
    expect(stopped(cycle(full(four, each, { pending: [job(1, { class: 8, nodes: 3 })] })))).toHaveLength(3);
  });

  it("uses free nodes and stops victims only for the rest", () => {
    const victims = [running(11, ["a"]), running(12, ["b"]), running(13, ["c"])];
    const result = cycle(full(four, victims, { pending: [urgent] }));
    expect(stopped(result)).toHaveLength(1);
    expect(result.preemptions[0]?.nodes).toContain("d");
  });

  it("frees nodes that the request can use: by hardware, name and group", () => {
    const gpus = [node("a"), node("b", { gpuCount: 4, gpuType: "GH200" })];
    const both = [running(11, ["a"]), running(12, ["b"], { class: 3 })];
    const gpu = job(1, { class: 8, constraints: { gpuCount: 4 } });
    expect(stopped(cycle(full(gpus, both, { pending: [gpu] })))).toEqual(["12"]);
    const named = job(1, { class: 8, constraints: { requiredNodes: nodeIds("b") } });
    expect(stopped(cycle(full(gpus, both, { pending: [named] })))).toEqual(["12"]);
    const groups = [...nodesIn("g0", "a", "b"), ...nodesIn("g1", "c", "d")];
    const spread = [running(11, ["a", "c"]), running(12, ["b"], { class: 3 }), running(13, ["d"], { class: 3 })];
    const tight = job(1, { class: 8, nodes: 2, constraints: { topology: "tight" } });
    const result = cycle(full(groups, spread, { pending: [tight] }));
    expect(stopped(result).sort()).toEqual(["11", "13"]);
    expect(result.preemptions[0]?.nodes).toEqual(nodeIds("c", "d"));
  });

  it("does not stop days of work for a minute of a slightly higher class", () => {
    const old = [running(11, ["a", "b", "c", "d"], { class: 4, began: 6000, minutes: 20_000 })];
    expect(stopped(cycle(full(four, old, { pending: [job(1, { class: 5, minutes: 1 })] })))).toEqual([]);
    expect(stopped(cycle(full(four, old, { pending: [job(1, { class: 10, minutes: 60 })] })))).toEqual(["11"]);
  });

  it("stops burst use before other use of its class", () => {
    const victims = [running(11, ["a"], { tenant: "biology" }), running(12, ["b"], { tenant: "physics", began: 50 })];
    const tenants = [
      tenant("physics", { nodesInUse: 1, fairShareMilli: 100, burstAllowanceMilli: 5000 }),
      tenant("biology"),
    ];
    const one = job(1, { class: 8, tenant: "biology" });
    expect(stopped(cycle(full(four.slice(0, 2), victims, { pending: [one], tenants })))).toEqual(["12"]);
  });

  it("displaces a reservation of a lower class, and none of an equal class", () => {
    const hour = (of: number) => job(2, { class: of, nodes: 4, minutes: 600, waited: 6000 });
    const victims = [running(11, ["a", "b", "c", "d"], { minutes: 70 })];
    const long = job(1, { class: 8, nodes: 4, minutes: 6000 });
    expect(stopped(cycle(full(four, victims, { pending: [long, hour(5)] })))).toEqual(["11"]);
    expect(stopped(cycle(full(four, victims, { pending: [long, hour(8)] }))).length).toBeLessThanOrEqual(1);
  });

  it("shares no victim and no node with another one", () => {
    const victims = [running(11, ["a", "b"]), running(12, ["c", "d"])];
    const result = cycle(full(four, victims, { pending: [urgent, { ...urgent, id: allocationId(2) }] }));
    expect(stopped(result).sort()).toEqual(["11", "12"]);
    expect(new Set(result.preemptions.flatMap(({ nodes }) => nodes)).size).toBe(4);
  });

  it("has its reason: the owner's own nodes, or a sensitive claim of any class", () => {
    const reasons = (result: CycleResult) =>
      result.preemptions.flatMap(({ victims }) => victims.map(({ reason }) => reason));
    const lent = [running(11, ["a", "b", "c", "d"], { borrows: true })];
    expect(reasons(cycle(full(four, lent, { pending: [job(1, { class: 5 })] })))).toEqual(["reclaim"]);
    const claim = full(four, [running(11, ["a", "b", "c", "d"], { class: 6 })], { pending: [job(1, { class: 1 })] });
    expect(reasons(cycle({ ...claim, isSensitive: true }))).toEqual(["sensitive"]);
  });
});

describe("nodes freed by preemption", () => {
  const other = job(2, { class: 9, nodes: 1, waited: 600 });

  it("are reserved for the preemptor, and no second victim is stopped", () => {
    const victims = [running(12, ["c", "d"])];
    const given = full(four, victims, { pending: [urgent, other], awaiting: [awaiting(1, ["a", "b"])] });
    const stopping = {
      ...given,
      nodes: given.nodes.map((each) => (each.id === "b" ? { ...each, free: false } : each)),
    };
    const result = cycle(stopping);
    expect(result.placements).toEqual([]);
    expect(result.preemptions.map(({ allocation }) => allocation)).toEqual(["2"]);
    expect(result.preemptions[0]?.nodes).not.toContain("a");
  });

  it("go to the preemptor as soon as they are free, at any depth and position", () => {
    for (const backfillDepth of [0, 1, 4]) {
      const whole = job(3, { class: 9, nodes: 4, waited: 6000 });
      const given = full(four, [running(12, ["c", "d"])], { pending: [urgent, whole, other], backfillDepth });
      const { placements } = cycle({ ...given, victims: [], awaiting: [awaiting(1, ["a", "b"])] });
      expect(placements[0]).toMatchObject({ allocation: "1", nodes: ["a", "b"] });
    }
  });

  it.each([
    { reservedFor: "its class", ownersClass: 8, isStarted: false },
    { reservedFor: "a lower class", ownersClass: 7, isStarted: true },
  ])(
    "may be exchanged for other nodes: $isStarted where those are reserved for $reservedFor",
    ({ ownersClass, isStarted }) => {
      const owner = job(3, { class: ownersClass, nodes: 2, waited: 6000 });
      const given = full(four, [running(12, ["a"])], { pending: [urgent, owner], awaiting: [awaiting(1, ["a", "b"])] });
      const result = cycle({ ...given, victims: [], previousReservations: [promise(3, 1, "c", "d")] });
      expect(result.placements.some(({ allocation }) => allocation === urgent.id)).toBe(isStarted);
    },
  );

  it("are reserved against other vClusters", () => {
    const given = full(four.slice(0, 2), [], { pending: [other], awaiting: [awaiting(1, ["a", "b"], false)] });
    expect(cycle(given).placements).toEqual([]);
    expect(cycle({ ...given, awaiting: [awaiting(1, ["a"], false)] }).placements[0]?.nodes).toEqual(["b"]);
  });
});
