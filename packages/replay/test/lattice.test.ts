// The real scheduler and the real state over traces: by hand, seeded, and a prefix of a recorded one.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type Constraints,
  type GroupId,
  NO_CONSTRAINTS,
  type NodeId,
  type Quota,
  UNLIMITED,
  type VClusterId,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  bestUnit,
  choosePolicy,
  easy,
  type Outcomes,
  readTrace,
  type SetupOptions,
  summarise,
  type Trace,
} from "../src/index.ts";
import { equalNodes } from "../src/inventory/inventory.ts";
import { summaryText } from "../src/result/text.ts";
import type { JobRequest } from "../src/trace/request.ts";
import { withPerfectEstimates } from "../src/trace/trace.ts";
import { DEFAULT_PROFILES, inThousandths, type Profile } from "../src/weights/profile.ts";
import { seededJobs, traceOfJobs } from "./make.ts";

/** Fingerprints of four nodes: two alike, one of its own, one that has told none. */
const MARKS = [{ conformance: "a" }, { conformance: "a" }, { conformance: "b" }, {}];

const PLAIN: SetupOptions = { inventory: null, profiles: null, unit: 1 };

function lattice(given: Trace, options: SetupOptions = PLAIN): { trace: Trace; outcomes: Outcomes } {
  const { policy, trace } = choosePolicy("lattice", given, options);
  return { trace, outcomes: policy(trace, () => {}) };
}

/** Never more nodes in use than there are, and nothing before its submission. */
function checkMachine(trace: Trace, { start, end }: Outcomes): void {
  const changes = Array.from(start, (from, row) => [
    { at: from, nodes: trace.size[row] ?? 0 },
    { at: end[row] ?? 0, nodes: -(trace.size[row] ?? 0) },
  ]).flat();
  let used = 0;
  let most = 0;
  for (const { nodes } of changes.sort((a, b) => a.at - b.at || a.nodes - b.nodes)) {
    used += nodes;
    most = Math.max(most, used);
  }
  expect(used).toBe(0);
  expect(most).toBeLessThanOrEqual(trace.nodes);
  for (const [row, from] of start.entries()) {
    expect(from).toBeGreaterThanOrEqual(trace.submit[row] ?? Number.NaN);
    expect((end[row] ?? 0) - from).toBeCloseTo(trace.run[row] ?? Number.NaN, 6);
  }
}

describe("through the real scheduler", () => {
  it("waits count in proportion to walltimes where the scheduler measures them so", () => {
    const trace = traceOfJobs(4, [
      { submit: 0, run: 100, request: 2000, nodes: 4 },
      { submit: 1, run: 5000, request: 10_000, nodes: 4 },
      { submit: 50, run: 10, request: 20, nodes: 4 },
    ]);
    expect([...lattice(trace).outcomes.start]).toEqual([0, 110, 100]);
    const elapsed = { ...DEFAULT_PROFILES.profiles[0], scheduler: "ml_training" as const } as Profile;
    const profiles = { profiles: [elapsed], warnings: [] };
    expect([...lattice(trace, { ...PLAIN, profiles }).outcomes.start]).toEqual([0, 100, 5100]);
  });

  it("starts at once on an idle machine, and waits for nodes on a full one", () => {
    const { outcomes } = lattice(
      traceOfJobs(4, [
        { submit: 0, run: 100, nodes: 4 },
        { submit: 10, run: 50, nodes: 2 },
        { submit: 10, run: 50, nodes: 2 },
      ]),
    );
    expect([[...outcomes.start], [...outcomes.end]]).toEqual([
      [0, 100, 100],
      [100, 150, 150],
    ]);
  });

  it("backfills around the reservation of the head", () => {
    const { outcomes } = lattice(
      traceOfJobs(4, [
        { submit: 0, run: 1000, nodes: 2 },
        { submit: 1, run: 50, nodes: 4 },
        { submit: 2, run: 900, nodes: 2 },
      ]),
    );
    expect([...outcomes.start]).toEqual([0, 1000, 2]);
    expect([...outcomes.backfilled]).toEqual([0, 0, 1]);
  });

  it("user names that are no tenant names are accepted", () => {
    const users = ["-1", "a b", "a c", "", "ünïcode", "x".repeat(80)];
    const trace = traceOfJobs(
      2,
      users.map((user) => ({ submit: 0, run: 5, nodes: 1, user })),
    );
    expect([...lattice(trace).outcomes.start].sort()).toEqual([0, 0, 10, 10, 5, 5]);
  });

  it("two users of one tenant have one share", () => {
    // While the first four jobs run, each user of the pair has used less than the single one, the pair more.
    const job = (submit: number, user: string, tenant: string) => ({ submit, run: 100, nodes: 1, user, tenant });
    const jobs = [
      ...[0, 0, 0].map((submit, i) => job(submit, `ada${i}`, "physics")),
      ...[0, 0].map((submit) => job(submit, "bob", "biology")),
      job(1, "eve", "physics"),
      job(2, "bob", "biology"),
    ].map((one, i) => ({ ...one, run: i < 5 ? 100 : 10, nodes: i < 5 ? 1 : 5 }));
    const weights = inThousandths(new Map([["fair_share", 1]]), 1);
    const profile = { vcluster: "x" as VClusterId, scheduler: "hpc_backfill" as const, weights, backfillDepth: 1 };
    const profiles = { profiles: [profile], warnings: [] };
    const starts = (tenants: boolean): number[] => {
      const trace = traceOfJobs(5, tenants ? jobs : jobs.map(({ tenant: _, ...alone }) => alone));
      return [...lattice(trace, { ...PLAIN, profiles }).outcomes.start.slice(5)];
    };
    // Alone, eve has used nothing; as one of physics, she is in the tenant with the most use.
    expect(starts(false)).toEqual([100, 110]);
    expect(starts(true)).toEqual([110, 100]);
  });

  it("keeps tenants within the quotas the trace lists, and drops what can never fit them", () => {
    const given = traceOfJobs(
      4,
      [1, 1, 1, 3].map((nodes) => ({ submit: 0, run: 10, nodes, user: "ada", tenant: "physics" })),
    );
    const limited = (quota: Partial<Quota>) =>
      lattice({ ...given, limits: [{ name: "physics", quota: { ...UNLIMITED, ...quota } }] });
    expect([...lattice(given).outcomes.start].sort((a, b) => a - b)).toEqual([0, 0, 0, 10]);
    const two = limited({ maxNodes: 2 });
    expect([...two.outcomes.start].sort((a, b) => a - b)).toEqual([0, 0, 10]);
    expect(two.trace.dropped.tooLarge).toBe(1);
    const one = limited({ maxConcurrentAllocations: 1 });
    expect([...one.outcomes.start].sort((a, b) => a - b)).toEqual([0, 10, 20, 30]);
    expect(limited({ maxConcurrentAllocations: 0 }).trace.dropped.tooLarge).toBe(4);
  });

  it("a seeded workload completes with the expected work", () => {
    const { trace, outcomes } = lattice(traceOfJobs(32, seededJobs(11, 300, 32)));
    checkMachine(trace, outcomes);
    const summary = summarise({ name: "x", policy: "lattice", perfect: false, gpus: 0 }, trace, outcomes);
    expect(summary.jobs).toBe(300);
    expect(summary.backfilled).toBeGreaterThan(20);
    expect(summary.wait.mean).toBeGreaterThan(0);
    expect(summary.utilisation).toBeGreaterThan(0.5);
  });

  it.each([1, 3, 10])("no job starts later than reserved at a depth of %i (E10)", (backfillDepth) => {
    const [profile] = DEFAULT_PROFILES.profiles;
    for (const scheduler of ["hpc_backfill", "ml_training"] as const) {
      const options = {
        ...PLAIN,
        profiles: { profiles: [{ ...profile, scheduler, backfillDepth } as Profile], warnings: [] },
      };
      const jobs = seededJobs(11, 400, 32).map((one, i) => ({ ...one, user: String(i % 7) }));
      const { trace, outcomes } = lattice(traceOfJobs(32, jobs), options);
      const summary = summarise({ name: "x", policy: "lattice", perfect: false, gpus: 0 }, trace, outcomes);
      expect(summary.reserved).toBeGreaterThan(20);
      expect(summary.late).toBe(0);
      expect(summaryText(summary)).toContain("  Started later than reserved: 0");
    }
  });

  it("jobs that no node of their vCluster can run are dropped", () => {
    const asking = (constraints: Partial<Constraints>, beyond: Partial<JobRequest> = {}): JobRequest => ({
      vcluster: null,
      constraints: { ...NO_CONSTRAINTS, ...constraints },
      maxNodes: null,
      noPreempt: false,
      ...beyond,
    });
    const gpus = asking({ gpuType: "GH200", gpuCount: 1 });
    const given = {
      ...traceOfJobs(2, [
        { submit: 0, run: 5, nodes: 1 },
        { submit: 0, run: 5, nodes: 1 },
        { submit: 0, run: 5, nodes: 2 },
      ]),
      requests: [null, gpus, gpus],
    };
    const [first, second] = equalNodes(2).nodes;
    if (first === undefined || second === undefined) throw new Error("there are two nodes");
    const inventory = { nodes: [first, { ...second, gpuType: "GH200", gpuCount: 4 }] };
    const { trace, outcomes } = lattice(given, { ...PLAIN, inventory });
    expect(trace.dropped.tooLarge).toBe(1);
    expect([...outcomes.start]).toEqual([0, 0]);

    const four = { nodes: equalNodes(4).nodes.map((node, i) => ({ ...node, group: `g${i}` as GroupId, ...MARKS[i] })) };
    const dropped = (nodes: number, ask: JobRequest): number =>
      lattice({ ...traceOfJobs(4, [{ submit: 0, run: 5, nodes }]), requests: [ask] }, { ...PLAIN, inventory: four })
        .trace.dropped.tooLarge;
    const [one, two] = four.nodes.map(({ id }) => id);
    expect(dropped(2, asking({ requiredNodes: [one as NodeId, two as NodeId] }))).toBe(0);
    expect(dropped(2, asking({ requiredNodes: ["elsewhere" as NodeId] }))).toBe(1);
    expect([dropped(2, asking({ maxGroups: 2 })), dropped(3, asking({ maxGroups: 2 }))]).toEqual([0, 1]);
    expect([2, 3].map((nodes) => dropped(nodes, asking({ requireConformance: true })))).toEqual([0, 1]);
    expect(dropped(1, asking({ requireUnifiedMemory: true }))).toBe(1);
  });

  it("a range of nodes gets the free nodes", () => {
    const range: JobRequest = { vcluster: null, constraints: NO_CONSTRAINTS, maxNodes: 8, noPreempt: false };
    const given = traceOfJobs(8, [
      { submit: 0, run: 100, nodes: 3 },
      { submit: 1, run: 100, nodes: 2 },
      { submit: 2, run: 100, nodes: 2 },
    ]);
    // The second takes all five that are left, not two, so that the third has to wait for the first.
    expect([...lattice({ ...given, requests: [null, range, null] }).outcomes.start]).toEqual([0, 1, 100]);
    expect([...lattice(given).outcomes.start]).toEqual([0, 1, 2]);
  });
});

describe("against EASY", () => {
  it("lattice equals EASY with the wait factor only and one reservation", () => {
    const weights = inThousandths(new Map([["wait_time", 1]]), 1);
    const profile = { vcluster: "x" as VClusterId, scheduler: "ml_training" as const, weights, backfillDepth: 1 };
    const trace = traceOfJobs(16, seededJobs(21, 250, 16));
    const { outcomes } = lattice(trace, { ...PLAIN, profiles: { profiles: [profile], warnings: [] } });
    const classic = easy(trace, () => {});
    expect([...outcomes.start]).toEqual([...classic.start]);
    expect([...outcomes.backfilled]).toEqual([...classic.backfilled]);
  });
});

describe("processors to nodes", () => {
  it("the unit is the largest that hardly adds work", () => {
    const trace = traceOfJobs(64, [
      { submit: 0, run: 100_000, nodes: 16 },
      { submit: 0, run: 100_000, nodes: 48 },
      { submit: 0, run: 10, nodes: 1 },
    ]);
    expect(bestUnit(trace)).toBe(16);
    const { trace: kept, outcomes } = lattice(trace, { ...PLAIN, unit: null });
    checkMachine(kept, outcomes);
    // Rounded up, the three ask for five nodes of four: one has to wait.
    expect([...outcomes.start].filter((start) => start === 0)).toHaveLength(2);
  });

  it("small jobs keep their own nodes", () => {
    expect(bestUnit(traceOfJobs(64, [{ submit: 0, run: 10, nodes: 1 }]))).toBe(1);
  });
});

describe("published results", () => {
  const kth = fileURLToPath(new URL("../../../../shared/traces/kth-sp2.swf.gz", import.meta.url));
  const real = existsSync(kth);
  const whole = real ? readTrace(kth, { nodes: null, jobs: null }) : traceOfJobs(100, seededJobs(4, 2000, 100));

  it.each([
    { name: "easy", perfect: false, slowdown: 92.688 },
    { name: "easy-sjbf", perfect: false, slowdown: 69.394 },
    { name: "easy", perfect: true, slowdown: 71.722 },
    { name: "easy-sjbf", perfect: true, slowdown: 49.847 },
  ] as const)(`$name, perfect $perfect (${real ? "KTH SP2" : "seeded"})`, ({ name, perfect, slowdown }) => {
    const { trace, policy } = choosePolicy(name, perfect ? withPerfectEstimates(whole) : whole, PLAIN);
    const outcomes = policy(trace, () => {});
    const found = summarise({ name, policy: name, perfect, gpus: 0 }, trace, outcomes).meanBoundedSlowdown;
    if (real) expect(found).toBeCloseTo(slowdown, 3);
    else expect(found).toBeGreaterThan(1);
  });
});

describe("a real trace", () => {
  const shared = fileURLToPath(new URL("../../../../shared/traces/kth-sp2.swf.gz", import.meta.url));
  const real = existsSync(shared);
  const trace = real ? readTrace(shared, { nodes: null, jobs: 300 }) : traceOfJobs(100, seededJobs(3, 300, 100));

  it(`is replayed by every policy (${real ? "KTH SP2" : "seeded, the shared traces are not here"})`, () => {
    for (const name of ["easy", "easy-sjbf", "lattice"] as const) {
      const outcomes = choosePolicy(name, trace, PLAIN).policy(trace, () => {});
      checkMachine(trace, outcomes);
      expect(outcomes.start.length).toBe(300);
    }
  });
});
