// The real scheduler and the real state over traces: by hand, seeded, and a prefix of a recorded one.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { easy, lattice, type Outcome, readTrace, summarise, type Trace } from "../src/index.ts";
import { seededJobs, traceOfJobs } from "./make.ts";

/** Never more nodes in use than there are, and nothing before its submission. */
function checkMachine(trace: Trace, outcomes: readonly Outcome[]): void {
  const changes = outcomes.flatMap(({ job, start, end }) => [
    { at: start, nodes: job.nodes },
    { at: end, nodes: -job.nodes },
  ]);
  let used = 0;
  let most = 0;
  for (const { nodes } of changes.sort((a, b) => a.at - b.at || a.nodes - b.nodes)) {
    used += nodes;
    most = Math.max(most, used);
  }
  expect(used).toBe(0);
  expect(most).toBeLessThanOrEqual(trace.nodes);
  for (const { job, start, end } of outcomes) {
    expect(start).toBeGreaterThanOrEqual(job.submit);
    expect(end - start).toBeCloseTo(job.run, 6);
  }
}

describe("through the real scheduler", () => {
  it("starts at once on an idle machine, and waits for nodes on a full one", () => {
    const trace = traceOfJobs(4, [
      { submit: 0, run: 100, nodes: 4 },
      { submit: 10, run: 50, nodes: 2 },
      { submit: 10, run: 50, nodes: 2 },
    ]);
    expect(lattice(trace, () => {}).map(({ start, end }) => [start, end])).toEqual([
      [0, 100],
      [100, 150],
      [100, 150],
    ]);
  });

  it("backfills around the reservation of the head", () => {
    const trace = traceOfJobs(4, [
      { submit: 0, run: 1000, nodes: 2 },
      { submit: 1, run: 50, nodes: 4 },
      { submit: 2, run: 900, nodes: 2 },
    ]);
    const outcomes = lattice(trace, () => {});
    expect(outcomes.map(({ start, backfilled }) => [start, backfilled])).toEqual([
      [0, false],
      [1000, false],
      [2, true],
    ]);
  });

  it("takes users whose names cannot name a tenant", () => {
    const users = ["-1", "a b", "a c", "", "ünïcode", "x".repeat(80)];
    const trace = traceOfJobs(
      2,
      users.map((user) => ({ submit: 0, run: 5, nodes: 1, user })),
    );
    expect(lattice(trace, () => {}).map(({ start }) => start)).toEqual([0, 0, 5, 5, 10, 10]);
  });

  it("runs a seeded workload to the end, with the work it must have done", () => {
    const trace = traceOfJobs(32, seededJobs(11, 400, 32));
    const outcomes = lattice(trace, () => {});
    checkMachine(trace, outcomes);
    const summary = summarise("lattice", trace, outcomes);
    expect(summary.jobs).toBe(400);
    expect(summary.backfilled).toBeGreaterThan(20);
    expect(summary.wait.mean).toBeGreaterThan(0);
    expect(summary.utilisation).toBeGreaterThan(0.5);
  });
});

describe("a real trace", () => {
  const shared = fileURLToPath(new URL("../../../../shared/traces/kth-sp2.swf.gz", import.meta.url));
  const real = existsSync(shared);
  const trace = real ? readTrace(shared, { nodes: null, jobs: 600 }) : traceOfJobs(100, seededJobs(3, 600, 100));

  it(`is replayed by every policy (${real ? "KTH SP2" : "seeded, the shared traces are not here"})`, () => {
    for (const policy of [easy, lattice]) {
      const outcomes = policy(trace, () => {});
      checkMachine(trace, outcomes);
      expect(outcomes.length).toBe(600);
    }
  });
});
