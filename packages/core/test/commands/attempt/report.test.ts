// attempt.report and the two expiries: sequences of reports from two nodes, exact times, and reports that come together
// in one entry.

import { applyEntry, attempt, type Command, createState, duration, type ReportCommand } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  entryFor,
  id,
  register,
  reportOf,
  submit,
  vcluster,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { placing } from "../../support/placing.ts";

type Said = ReportCommand["state"];

function placed(policy: "never" | "always" = "never", maxRequeue = 1): Cluster {
  const c = createCluster(register("n1"), register("n2"));
  c.apply(submit({ nodes: 2, lifecycle: { requeuePolicy: policy, maxRequeue } }));
  c.place(1, "n1", "n2");
  return c;
}

/** "1r" is node n1 with the report running. */
const WORDS: Readonly<Record<string, Said>> = { s: "staging", r: "running", c: "completed", f: "failed" };
function said(c: Cluster, text: string): void {
  for (const word of text.split(" ")) {
    const state = WORDS[word.charAt(1)];
    if (state !== undefined) c.apply(reportOf(1, `n${word.charAt(0)}`, attempt(1), state));
  }
}

describe("reports of two nodes", () => {
  it.each([
    ["1s", "staging", ["1/1"], ["1/1"]],
    ["1s 2s", "staging", ["1/1"], ["1/1"]],
    ["1r 2s", "staging", ["1/1"], ["1/1"]],
    ["1r 2r", "running", ["1/1"], ["1/1"]],
    ["2r 1r 2s 1s", "running", ["1/1"], ["1/1"]],
    ["1c", "staging", ["1/1"], ["1/1"]],
    ["1c 2r", "running", ["1/1"], ["1/1"]],
    ["1r 2r 1c", "running", ["1/1"], ["1/1"]],
    ["1r 2r 1c 2c", "completed", [], []],
    ["1c 2c", "completed", [], []],
    ["1f", "failed", [], ["1/1 releasing"]],
    ["1r 2r 2f", "failed", ["1/1 releasing"], []],
    ["1c 2f", "failed", [], []],
    ["1f 2f", "failed", [], []],
    ["1f 2c", "failed", [], []],
    ["1f 2r", "failed", [], ["1/1 releasing"]],
    ["1r 2r 1c 1f", "running", ["1/1"], ["1/1"]],
  ])("%j lead to %s with the claims %j and %j", (text, phase, first, second) => {
    const c = placed();
    said(c, text);
    expect([c.phase(1), c.claims("n1"), c.claims("n2")]).toEqual([phase, first, second]);
  });

  it("in any order of nodes lead to the same phase", () => {
    const sequence: fc.Arbitrary<readonly string[]> = fc.constantFrom(
      ["s", "r", "c"],
      ["r", "c"],
      ["c"],
      ["s", "f"],
      ["r", "f"],
    );
    fc.assert(
      fc.property(sequence, sequence, fc.infiniteStream(fc.boolean()), (a, b, turns) => {
        const [left, right] = [[...a], [...b]];
        const c = placed();
        while (left.length + right.length > 0) {
          const first = right.length === 0 || (left.length > 0 && turns.next().value === true);
          said(c, `${first ? 1 : 2}${(first ? left : right).shift() ?? ""}`);
        }
        const failed = a.includes("f") || b.includes("f");
        expect([c.phase(1), c.claims("n1"), c.claims("n2")]).toEqual([failed ? "failed" : "completed", [], []]);
      }),
      { numRuns: 60 },
    );
  });

  it("are stale when they come late, and repeated when they come twice", () => {
    const c = placed();
    said(c, "1r");
    expectRepeated(c, reportOf(1, "n1", attempt(1), "running"));
    expectRejected(c, reportOf(1, "n1", attempt(1), "staging"), "stale_report");
    said(c, "1c");
    expectRejected(c, reportOf(1, "n1", attempt(1), "failed"), "stale_report");
    expectRejected(c, reportOf(1, "n1", attempt(1), "running"), "stale_report");
  });

  it("in one entry have the same effect as one by one, in any order", () => {
    const names = ["n1", "n2", "n3", "n4"];
    const setUp: readonly Command[] = [vcluster("batch", { isDefault: true }), ...names.map((name) => register(name))];
    const order = fc.shuffledSubarray(names, { minLength: 4, maxLength: 4 });
    const state = fc.constantFrom<Said>("running", "completed", "failed", "staging");
    fc.assert(
      fc.property(order, state, fc.boolean(), (nodes, last, started) => {
        const run = (together: boolean): string => {
          const c = createState();
          applyEntry(c, entryFor(c, 1, [...setUp, submit({ nodes: 4 })]));
          applyEntry(c, entryFor(c, 1, [placing({ state: c } as Cluster, 1, names)]));
          const rounds: readonly Said[] = started ? ["running", last] : [last];
          for (const round of rounds) {
            const reports = nodes.map((node) => reportOf(1, node, attempt(1), round));
            if (together) {
              applyEntry(c, entryFor(c, 1, reports));
              // As many entries as one by one, so that their indexes agree.
              for (let n = 1; n < reports.length; n += 1) applyEntry(c, entryFor(c, 1, []));
            } else for (const report of reports) applyEntry(c, entryFor(c, 1, [report]));
          }
          const record = c.allocation(id(1));
          return JSON.stringify([record?.phase, record?.attempt, Array.from(c.nodes(), ({ claims }) => claims)]);
        };
        expect(run(true)).toBe(run(false));
      }),
      { numRuns: 60 },
    );
  });
});

describe("the expiry of a walltime", () => {
  const expire: Command = { kind: "attempt.expire", allocation: id(1), attempt: attempt(1) };

  it.each([
    [3_599_999, "stale_report"],
    [3_600_000, "accepted"],
  ])("after %i ms of running is %s", (ms, expected) => {
    const c = placed();
    c.advance(50_000);
    said(c, "1r 2r");
    c.advance(ms);
    if (expected === "accepted") expect(verdict(c.one(expire))).toBe("accepted");
    else expectRejected(c, expire, expected);
  });

  it("of work that never started counts from its placement", () => {
    const c = placed();
    c.advance(3_599_999);
    expectRejected(c, expire, "stale_report");
    c.advance(1);
    expect(verdict(c.one(expire))).toBe("accepted");
    expect(c.state.allocation(id(1))?.phase).toMatchObject({
      kind: "failed",
      reason: "walltime_exceeded",
      startedAt: null,
      message: "the walltime of 3600 s is over",
    });
  });

  it("is never followed by a requeue, whatever the policy", () => {
    const c = placed("always", 9);
    said(c, "1r 2r");
    c.advance(duration(3_600_000));
    c.apply(expire);
    expect(c.phase(1)).toBe("failed");
  });

  it("is stale after the walltime was extended", () => {
    const c = placed();
    said(c, "1r 2r");
    c.advance(3_600_000 - 1);
    c.apply({
      kind: "allocation.update",
      origin: { user: "ada" as never, requestId: null, bodyHash: "" },
      id: id(1),
      change: { walltime: duration(7_200_000) },
    });
    c.advance(1);
    expectRejected(c, expire, "stale_report");
  });
});

describe("a failure", () => {
  it.each<[string, NonNullable<ReportCommand["reason"]>, string]>([
    ["never", "exit_code", "failed"],
    ["never", "lost", "failed"],
    ["on_node_failure", "exit_code", "failed"],
    ["on_node_failure", "oom", "failed"],
    ["on_node_failure", "lost", "pending"],
    ["on_node_failure", "launch_failed", "pending"],
    ["on_node_failure", "node_failure", "pending"],
    ["always", "exit_code", "pending"],
    ["always", "signal", "pending"],
    ["always", "oom", "pending"],
    ["always", "probe_failed", "pending"],
    ["always", "stopped", "failed"],
    ["always", "walltime_exceeded", "failed"],
    ["always", "preempted", "failed"],
  ])("under the policy %s for the reason %s leaves the work %s", (policy, reason, phase) => {
    const c = placed(policy as "never");
    said(c, "1r 2r");
    c.report(1, "n1", "failed", reason);
    expect(c.phase(1)).toBe(phase);
  });

  it("counts against the limit of requeues, which is exact", () => {
    const c = placed("always", 2);
    for (const n of [1, 2, 3]) {
      c.report(1, "n1", "failed");
      expect(c.phase(1)).toBe(n === 3 ? "failed" : "pending");
      c.apply(reportOf(1, "n2", attempt(n), "failed", "stopped"));
      if (n === 3) break;
      c.advance(600_000);
      c.apply({ kind: "allocation.end_backoff", allocation: id(1) });
      c.place(1, "n1", "n2");
    }
    expect(c.state.allocation(id(1))).toMatchObject({ requeues: 2, phase: { reason: "requeue_limit" } });
  });
});

describe("a requeue by a reconciler", () => {
  const requeue = (expectedRequeues: number, cause: "node_failure" | "updated" = "node_failure"): Command => ({
    kind: "allocation.requeue",
    allocation: id(1),
    expectedRequeues,
    cause,
  });

  it("counts once, however many reconcilers ask for it", () => {
    const c = placed("always", 5);
    expect(verdict(c.one(requeue(0)))).toBe("accepted");
    expectRejected(c, requeue(0), "stale_report");
    expectRejected(c, requeue(1), "illegal_transition");
    expect(c.state.allocation(id(1))?.requeues).toBe(1);
  });

  it("for an update is not counted and is not limited", () => {
    const c = placed("never", 0);
    expect(verdict(c.one(requeue(0, "updated")))).toBe("accepted");
    expect(c.state.allocation(id(1))).toMatchObject({ requeues: 0, updates: 1, phase: { kind: "pending" } });
  });

  it("of work that is never requeued fails it", () => {
    const c = placed("never");
    c.apply(requeue(0));
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", message: "to be requeued: node_failure" });
  });
});
