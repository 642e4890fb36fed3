// Nodes that go down, drift, collect faults and return: the limits of each rule.

import { type Command, instant, MAX_QUICK_FAILURE } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  drain,
  health,
  id,
  nodeId,
  register,
  submit,
  verdict,
} from "../../support/cluster.ts";

const quarantine = (until: number | null): Command => ({
  kind: "node.quarantine",
  node: nodeId("n1"),
  reason: "work fails",
  until: until === null ? null : instant(until),
  maxPercent: 100,
});
const faultsOf = (c: Cluster): number => c.state.node(nodeId("n1"))?.faults?.length ?? 0;
const hasDrift = (c: Cluster, name: string): boolean => (c.state.node(nodeId(name))?.drift ?? null) !== null;

describe("a node that goes down", () => {
  it.each([
    ["heartbeats", 'node "n1" is down (silent): heartbeats'],
    ["", 'node "n1" is down (silent)'],
  ])("for the reason %j fails its work with the message %s", (reason, message) => {
    const c = createCluster(register("n1"), submit({ lifecycle: { requeuePolicy: "never" } }));
    c.place(1, "n1");
    c.apply({ kind: "node.health", node: nodeId("n1"), verdict: "silent", reason });
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "node_failure", message });
  });

  it("during a temporary quarantine returns to ready, and during a drain to drained", () => {
    for (const [command, state] of [
      [quarantine(9_000_000), "ready"],
      [drain("n1"), "drained"],
    ] as const) {
      const c = createCluster(register("n1"), submit());
      c.place(1, "n1");
      c.apply(command);
      expect(c.nodeState("n1")).toBe("draining");
      c.apply(health("n1", "silent"), health("n1", "heard"));
      expect(c.nodeState("n1")).toBe(state);
    }
  });
});

describe("a node with another conformance", () => {
  const cluster = (size: number): Cluster =>
    createCluster(...Array.from({ length: size }, (_, i) => register(`n${i + 1}`, { conformance: "a" })));
  it("has drifted when it is the only node of its group", () => {
    const c = cluster(1);
    c.apply(register("n1", { conformance: "b" }));
    expect(hasDrift(c, "n1")).toBe(true);
  });
  it("has drifted with half of its group, and not with more than half", () => {
    const two = cluster(2);
    two.apply(register("n1", { conformance: "b" }));
    expect(hasDrift(two, "n1")).toBe(true);
    const three = cluster(3);
    three.apply(register("n1", { conformance: "b" }), register("n2", { conformance: "b" }));
    expect([hasDrift(three, "n1"), hasDrift(three, "n2")]).toEqual([true, false]);
  });
});

describe("a failure on a node", () => {
  const failAfter = (ms: number, reason: "exit_code" | "signal" | "oom" | "launch_failed"): Cluster => {
    const c = createCluster(register("n1"), register("n2"), submit());
    c.place(1, "n1");
    c.advance(ms);
    c.report(1, "n1", "failed", reason);
    return c;
  };
  it.each([
    [0, "exit_code", 1],
    [0, "signal", 1],
    [0, "oom", 0],
    [MAX_QUICK_FAILURE - 1, "exit_code", 1],
    [MAX_QUICK_FAILURE, "exit_code", 0],
    [MAX_QUICK_FAILURE, "signal", 0],
    [MAX_QUICK_FAILURE, "launch_failed", 1],
  ] as const)("after %i ms by %s leaves %i faults", (ms, reason, expected) => {
    expect(faultsOf(failAfter(ms, reason))).toBe(expected);
  });
});

describe("quarantine and probe", () => {
  it("refuse a drained node that has not drifted", () => {
    const c = createCluster(register("n1"), drain("n1"));
    expect(verdict(c.one(quarantine(null)))).toBe("stale_plan");
  });
  it.each([
    [0, 0],
    [1, 1],
    [5, 2],
  ])("keep %i faults of two: %i", (keep, expected) => {
    const c = createCluster(register("n1"), register("n2"));
    for (const n of [1, 2]) {
      c.apply(submit());
      c.place(n, "n1");
      c.report(n, "n1", "failed");
    }
    c.apply(quarantine(1_500_000));
    c.advance(499_999);
    expect(verdict(c.one({ kind: "node.probe", node: nodeId("n1"), keep }))).toBe("stale_report");
    c.advance(1);
    expect(verdict(c.one({ kind: "node.probe", node: nodeId("n1"), keep }))).toBe("accepted");
    expect([c.nodeState("n1"), faultsOf(c)]).toEqual(["ready", expected]);
  });
});
