// Elements behind elements of their group on one node, from the placement to the end of each.

import { type Command, duration, instant, seconds } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { brokenNode } from "../../invariants/node.ts";
import {
  type Cluster,
  cancel,
  createCluster,
  disable,
  drain,
  health,
  id,
  nodeId,
  register,
  reportOf,
  type SpecChange,
  submit,
  submitGroup,
  tenant,
  vcluster,
} from "../../support/cluster.ts";
import { refusalOfPlacing, stops } from "../../support/placing.ts";

const lifecycle = { walltime: seconds(60), requeuePolicy: "on_node_failure" } as const;
const group = (change: SpecChange = {}): Command =>
  submitGroup([1, 5], null, { ...change, lifecycle: { ...lifecycle, ...change.lifecycle } });
const cluster = (...more: readonly Command[]): Cluster => createCluster(register("n1"), register("n2"), ...more);
const behind = (c: Cluster, n: string, node = "n1") => refusalOfPlacing(c, n, [node], { behind: true });

/** Three elements of group 1 on n1: the first owns it. */
function line(change: SpecChange = {}): Cluster {
  const c = cluster(group(change));
  c.place("1_1", "n1");
  for (const n of ["1_2", "1_3"]) expect(behind(c, n)).toBeNull();
  return c;
}

const waits = (c: Cluster) => c.state.node(nodeId("n1"))?.claims.map((claim) => claim.behind === true);
const isSound = (c: Cluster) => [...c.state.nodes()].flatMap((node) => brokenNode(c.state, node));

describe("an element behind others", () => {
  it("has a claim and an order, and the first claim alone owns the node", () => {
    const c = line();
    expect(c.claims("n1")).toEqual(["1_1/1", "1_2/1", "1_3/1"]);
    expect(waits(c)).toEqual([false, true, true]);
    expect([c.phase("1_2"), c.state.usage("physics" as never)]).toEqual(["staging", { nodes: 1, running: 3 }]);
    expect(isSound(c)).toEqual([]);
  });

  it("owns the node when the one in front has ended, and counts its walltime from then", () => {
    const c = line();
    c.report("1_1", "n1", "running");
    c.report("1_1", "n1", "completed");
    expect(c.claims("n1")).toEqual(["1_2/1", "1_3/1"]);
    expect(waits(c)).toEqual([false, true]);
    c.advance(80_000);
    const expire = c.one({ kind: "attempt.expire", allocation: id("1_2"), attempt: 1 as never });
    expect(expire).toMatchObject({ kind: "rejected", refusal: { code: "stale_report" } });
    expect(isSound(c)).toEqual([]);
  });

  it("reports its start and its end together", () => {
    const c = line();
    const start = instant(c.state.at + 700);
    const end = { startedAt: start, endedAt: instant(start + 200) };
    c.advance(1_000);
    c.apply({ ...reportOf("1_1", "n1", 1 as never, "failed"), ...end });
    expect(c.state.allocation(id("1_1"))?.phase).toMatchObject({ kind: "failed", startedAt: start, exitCode: 1 });
    expect(c.state.group(id(1))?.usualTime).toBe(duration(200));
  });

  it.each(["1_2", "1_3"])("is cancelled alone: %s", (n) => {
    const c = line();
    expect(stops(c.apply(cancel(n)))).toHaveLength(1);
    expect([c.phase("1_1"), c.phase(n)]).toEqual(["staging", "cancelled"]);
    c.apply(reportOf(n, "n1", 1 as never, "failed", "stopped"));
    expect(c.claims("n1")).toHaveLength(2);
    expect(isSound(c)).toEqual([]);
  });

  it("keeps its place while the one in front is being ended", () => {
    const c = line();
    c.apply(cancel("1_1"));
    expect(waits(c)).toEqual([false, true, true]);
    expect(behind(c, "1_4")?.code).toBe("node_unavailable");
    c.apply(reportOf("1_1", "n1", 1 as never, "failed", "stopped"));
    expect(waits(c)).toEqual([false, true]);
    expect(isSound(c)).toEqual([]);
  });

  it("returns to the queue with a lost node, and it counts as no requeue", () => {
    const c = line();
    c.report("1_1", "n1", "running");
    c.apply(health("n1", "silent"));
    expect(c.state.allocation(id("1_1"))).toMatchObject({ phase: { kind: "pending" }, requeues: 1 });
    expect(c.state.allocation(id("1_2"))).toMatchObject({ phase: { kind: "pending" }, requeues: 0, recalls: 1 });
    expect(c.claims("n1")).toEqual([]);
  });

  it("returns to the queue from a disabled node once its agent has confirmed the end", () => {
    const c = line();
    c.apply(disable("n1"));
    expect(c.phase("1_3")).toBe("pending");
    expect(c.claims("n1")).toEqual(["1_1/1 releasing", "1_2/1 releasing", "1_3/1 releasing"]);
  });

  it("returns to the queue when it is recalled, once, and is placed again as the next attempt", () => {
    const c = line();
    c.apply(drain("n1"));
    const recalled = { ...reportOf("1_3", "n1", 1 as never, "failed", "stopped"), recalled: true as const };
    c.apply(recalled, recalled);
    expect(c.state.allocation(id("1_3"))).toMatchObject({
      phase: { kind: "pending", cause: "recalled" },
      requeues: 0,
      recalls: 1,
    });
    expect(c.claims("n1")).toEqual(["1_1/1", "1_2/1"]);
    c.place("1_3", "n2");
    expect(c.claims("n2")).toEqual(["1_3/2"]);
    expect(isSound(c)).toEqual([]);
  });

  it("takes the node at once when it is free again", () => {
    const c = cluster(group());
    expect(behind(c, "1_2")).toBeNull();
    expect(waits(c)).toEqual([false]);
  });

  it.each<[string, Cluster]>([
    ["another group", createLine(group())],
    ["other work", createLine(submit({ lifecycle }))],
    ["work that must not run twice", withOwn({ lifecycle: { ...lifecycle, requeuePolicy: "never" } })],
    ["work for two nodes", withOwn({ nodes: [1, 2] })],
  ])("is refused: %s", (_what, c) => {
    expect(behind(c, "2_2")?.code).toBe("node_unavailable");
    expect(c.phase("2_2")).toBe("pending");
  });

  it("is refused on a node that gets no more work, and beyond the quota of its tenant", () => {
    const drained = line();
    drained.apply(drain("n1"));
    expect(behind(drained, "1_4")?.code).toBe("node_unavailable");
    const c = cluster(tenant("physics", { maxConcurrentAllocations: 2, maxNodes: 1 }), group());
    c.place("1_1", "n1");
    expect(behind(c, "1_2")).toBeNull();
    expect(behind(c, "1_3")).toMatchObject({ code: "quota_exceeded", figures: { limit: 2, current: 2, requested: 1 } });
  });

  it("is refused where nodes are shared", () => {
    const c = cluster(vcluster("small", { sharesNodes: true }), group({ vcluster: "small" }));
    expect(refusalOfPlacing(c, "1_1", ["n1"])).toBeNull();
    expect(behind(c, "1_2")?.code).toBe("node_unavailable");
  });
});

/** Group 2, and in front of it something else on n1. */
function createLine(first: Command): Cluster {
  const c = cluster(first, group());
  c.place(first.kind === "group.submit" ? "1_1" : 1, "n1");
  return c;
}

/** Group 2 with its own first element on n1. */
function withOwn(change: SpecChange): Cluster {
  const c = cluster(submit(), group(change));
  c.place("2_1", "n1");
  return c;
}
