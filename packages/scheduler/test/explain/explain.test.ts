// Explanations and suggestions: the figures of hand-made queues; and over random queues, that every suggestion is true
// and that a query changes nothing.

import { instant } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CycleInput,
  type CycleRecord,
  type CycleResult,
  cycle,
  durationText,
  explain,
  recordCycle,
  type Suggestion,
  suggestions,
  tryVariants,
} from "../../src/index.ts";
import { someInput } from "../arbitrary.ts";
import { allocationId, busy, input, job, MINUTE, NOW, node, release, tenant } from "../make.ts";

function studyOf(given: CycleInput): CycleRecord {
  const { record } = recordCycle({ ...given, report: "full" });
  if (record === null) throw new Error("nothing was ordered");
  return record;
}

const suggestionsFor = (study: CycleRecord, id: string, whole = false): Suggestion[] => {
  const expected = study.result.estimates.get(allocationId(id)) ?? null;
  const trials = tryVariants(study, allocationId(id), { expected, others: [], ...(whole ? { cycle } : {}) });
  return [...trials].filter((one) => one !== null);
};

describe("an explanation", () => {
  const machine = [
    node("a1"),
    busy("a2"),
    busy("a3"),
    node("g1", { gpuType: "GH200", gpuCount: 4 }),
    node("d1", { free: false, usable: false, notFreeBecause: "drained" }),
  ];
  const releases = [{ ...release(30, "a2", "a3"), tenant: tenant("biology").id }];

  test("counts nodes by constraint, by state and by their present work", () => {
    const wants = job(1, { nodes: 2, constraints: { gpuType: "GH200", gpuCount: 4 } });
    const told = explain(studyOf(input({ nodes: machine, pending: [wants], releases })), wants.id);
    expect(told?.nodes).toMatchObject({ total: 5, needed: 2, matching: 1, free: 1, busy: [] });
    expect(told?.nodes.failing).toEqual([
      { what: "gpu_count", nodes: 4 },
      { what: "gpu_type", nodes: 4 },
      { what: "drained", nodes: 1 },
    ]);
    expect(told?.causes.map(({ code }) => code)).toEqual(["no_matching_nodes"]);
  });

  test("names the work on busy nodes with its end, and the position in the queue with the jobs ahead", () => {
    const ahead = job(1, { nodes: 4, class: 9, minutes: 60 });
    const behind = job(2, { nodes: 3, class: 1, minutes: 60, constraints: { excludedNodes: ["g1" as never] } });
    const told = explain(studyOf(input({ nodes: machine, pending: [behind, ahead], releases })), behind.id);
    expect(told?.nodes.busy).toEqual([{ allocation: "900", tenant: "biology", nodes: 2, until: NOW + 30 * MINUTE }]);
    expect(told?.queue).toMatchObject({ position: 2, length: 2, ahead: [{ position: 1, allocation: "1", nodes: 4 }] });
    expect(told?.queue.scores.total).toBeLessThan(told?.queue.ahead[0]?.scores.total ?? 0);
    expect(told?.causes.map(({ code }) => code)).toContain("priority");
  });

  test("has no causes for a starting allocation, and does not exist for an unknown one", () => {
    const study = studyOf(input({ nodes: machine, pending: [job(1)], releases }));
    expect(explain(study, allocationId(1))).toMatchObject({ startsNow: true, causes: [] });
    expect(explain(study, allocationId(7))).toBeNull();
  });

  test("states the tenant's limits and share in sentences", () => {
    const limited = tenant("physics", { maxNodes: 2, nodesInUse: 2, fairShareMilli: 250, budgetUsedMilli: 900 });
    const wants = job(1);
    const told = explain(studyOf(input({ nodes: machine, pending: [wants], releases, tenants: [limited] })), wants.id);
    expect(told?.causes[0]?.code).toBe("quota_nodes");
    expect(told?.tenant).toEqual([
      "Tenant physics uses 2 of the 2 nodes it may use.",
      "Tenant physics uses 50 % of the cluster now, its fair share is 25 %: it is above its share, so fair share adds nothing to the score of its work.",
      "90 % of its budget is used, which lowers its score.",
    ]);
  });

  test("states fair share by recent use, where that is known", () => {
    const tenants = [tenant("physics", { fairShareMilli: 250, usedShareMilli: 100 })];
    const wants = job(1, { nodes: 9 });
    const told = explain(studyOf(input({ nodes: machine, pending: [wants], releases, tenants })), wants.id);
    expect(told?.tenant[0]).toMatch(/^Tenant physics had 10 % of recent usage, its fair share is 25 %: it is below/);
  });

  test("names the vCluster of a foreign reservation", () => {
    const foreignReservations = [
      {
        allocation: allocationId(50),
        vcluster: "ml" as never,
        startsAt: (NOW + MINUTE) as never,
        endsAt: null,
        nodes: ["a1" as never],
      },
    ];
    const wants = job(1, { constraints: { excludedNodes: ["g1" as never] } });
    const told = explain(studyOf(input({ nodes: machine, pending: [wants], releases, foreignReservations })), wants.id);
    expect(told?.nodes.reserved).toEqual([{ allocation: "50", vcluster: "ml", nodes: 1, startsAt: NOW + MINUTE }]);
    expect(told?.causes[0]?.code).toBe("reserved");
  });
});

describe("a suggestion", () => {
  test("has fewer nodes, one constraint less, or a shorter walltime", () => {
    const machine = [node("a1"), node("a2"), busy("a3"), busy("a4")];
    const releases = [release(60, "a3", "a4")];
    const wide = job(1, { nodes: 4, class: 9, minutes: 30 });
    const long = job(2, { nodes: 1, class: 1, minutes: 300 });
    const odd = job(3, { nodes: 1, class: 1, minutes: 5, constraints: { features: ["nvme"] } });
    const study = studyOf(input({ nodes: machine, pending: [wide, long, odd], releases }));
    expect(suggestionsFor(study, "1")).toMatchObject([{ kind: "nodes", change: { nodes: "2-4" }, startsNow: true }]);
    expect(suggestionsFor(study, "2", true)).toMatchObject([
      { kind: "walltime", change: { walltime: "3540s" }, startsNow: true, tried: "cycle" },
    ]);
    expect(suggestionsFor(study, "3")).toMatchObject([
      { kind: "constraint", text: "With nodes without the feature nvme as well it would start now.", tried: "plan" },
    ]);
  });

  test("names another vCluster whose nodes are free", () => {
    const wants = job(1);
    const study = studyOf(input({ nodes: [busy("a1")], pending: [wants], releases: [release(60, "a1")] }));
    const other = studyOf({
      ...input({ nodes: [node("b1")], pending: [job(5, { nodes: 2 })] }),
      vcluster: "ml" as never,
    });
    const found = [...tryVariants(study, wants.id, { expected: null, others: [other] })].filter((one) => one !== null);
    expect(found).toMatchObject([{ kind: "vcluster", change: { vcluster: "ml" }, startsNow: true }]);
  });

  test("that a full cycle has tried is true, and the query leaves the study unchanged", () => {
    fc.assert(
      fc.property(someInput, (given) => {
        const study = studyOf(given);
        const before = JSON.stringify(
          study.decision.draft.reservations.map(({ startsAt, nodes }) => [startsAt, nodes]),
        );
        for (const { id, submittedAt } of given.pending) {
          if (study.decision.draft.placed.has(id)) continue;
          expect(explain(study, id)?.causes.length).toBeGreaterThan(0);
          for (const { startsAt, startsNow, change } of suggestionsFor(study, id, true)) {
            expect(startsAt).toBeGreaterThanOrEqual(given.now);
            expect(Object.keys(change)).toHaveLength(1);
            const as = study.result.estimates.get(id);
            if (as !== undefined && !startsNow) expect(startsAt).toBeLessThan(as);
          }
          expect(submittedAt).toBeLessThanOrEqual(given.now);
        }
        expect(JSON.stringify(study.decision.draft.reservations.map(({ startsAt, nodes }) => [startsAt, nodes]))).toBe(
          before,
        );
        // The plan equals the plan of an unrecorded cycle.
        expect(cycle({ ...given, report: "full" }).placements).toEqual(study.result.placements);
        expect(recordCycle({ ...given, report: "full" }).result.reservations).toEqual(study.result.reservations);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    { queue: "short", more: 0, plan: 0 },
    { queue: "long", more: 70, plan: 20 },
  ])("on a large cluster with a $queue queue also holds in a full cycle", ({ more, plan }) => {
    // They can never start: all that they do is to wait.
    const stuck = Array.from({ length: more }, (_, i) => job(5_000 + i, { nodes: 9_999 }));
    const away = Array.from({ length: 3_000 }, (_, i) =>
      node(`zz${String(i).padStart(4, "0")}`, { free: false, usable: false, notFreeBecause: "down" }),
    );
    const told = { plan: 0, cycle: 0, reserved: 0 };
    fc.assert(
      fc.property(someInput, (some) => {
        const given = { ...some, nodes: [...some.nodes, ...away], pending: [...some.pending, ...stuck] };
        const study = studyOf(given);
        const reserved = new Set<string>(study.result.reservations.map(({ allocation }) => allocation));
        for (const pending of some.pending) {
          const { id } = pending;
          if (study.decision.draft.placed.has(id)) continue;
          const expected = study.result.estimates.get(id) ?? null;
          for (const one of suggestions(study, id, { expected, others: [], cycle, canContinue: () => true })) {
            told[one.tried] += 1;
            if (reserved.has(id)) told.reserved += 1;
            if (one.kind !== "nodes" && one.kind !== "walltime") continue;
            const { nodes, walltime } = one.change;
            const changed =
              nodes === undefined
                ? { ...pending, walltime: (Number.parseInt(walltime ?? "", 10) * 1000) as never }
                : { ...pending, minNodes: Number.parseInt(nodes, 10) };
            const others = given.pending.map((other) => (other === pending ? changed : other));
            const whole = cycle({ ...given, pending: others, report: "full" });
            const isPlaced = whole.placements.some(({ allocation }) => allocation === id);
            expect(isPlaced ? given.now : whole.estimates.get(id)).toBeLessThanOrEqual(one.startsAt);
          }
        }
      }),
      { numRuns: 100 },
    );
    expect(told.plan).toBeGreaterThanOrEqual(plan);
    expect(told.cycle).toBeGreaterThan(20);
    expect(told.reserved).toBeGreaterThan(10);
  });

  test("on a large cluster is tried by a cycle even when time is up, the soonest first", () => {
    const nodes = Array.from({ length: 4_000 }, (_, i) => node(`n${String(i).padStart(4, "0")}`, { free: i < 1_000 }));
    const busyOnes = nodes.slice(1_000).map(({ id }) => id);
    const given = input({
      nodes,
      pending: [job(1, { nodes: 2_000, minutes: 60 })],
      releases: [release(120, ...busyOnes)],
    });
    let asked = 0;
    const counted = (one: CycleInput): CycleResult => {
      asked += 1;
      return cycle(one);
    };
    const options = { expected: instant(NOW + 120 * MINUTE), others: [], cycle: counted, canContinue: () => false };
    const found = suggestions(studyOf(given), allocationId(1), options);
    expect(found).toMatchObject([{ kind: "nodes", change: { nodes: "1000-2000" }, startsNow: true, tried: "cycle" }]);
    expect(asked).toBe(1);
  });

  test("tried on the plan for a start now almost always holds in a full cycle", () => {
    let promised = 0;
    let kept = 0;
    fc.assert(
      fc.property(someInput, (given) => {
        const study = studyOf(given);
        for (const { id } of given.pending) {
          if (study.decision.draft.placed.has(id)) continue;
          const onPlan = suggestionsFor(study, id).filter(({ startsNow }) => startsNow);
          // The cycle may find that a milder change of the same kind is enough.
          const whole = suggestionsFor(study, id, true).filter(({ startsNow }) => startsNow);
          promised += onPlan.length;
          kept += onPlan.filter(({ kind }) => whole.some((other) => other.kind === kind)).length;
        }
      }),
      { numRuns: 150, seed: 7 },
    );
    expect(promised).toBeGreaterThan(50);
    expect(kept / promised).toBeGreaterThan(0.97);
  });
});

test("a duration is written in at most two units", () => {
  expect([0, 45_000, 61_000, 3_600_000, 12_000_000].map(durationText)).toEqual([
    "0 s",
    "45 s",
    "2 min",
    "1 h",
    "3 h 20 min",
  ]);
});
