// node.health: each verdict in each state, with its notices and the audit log of sensitive nodes.

import type { Command } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  disable,
  drain,
  enable,
  health,
  moves,
  nodeId,
  register,
  submit,
  vcluster,
  vclusterId,
  verdict,
} from "../../support/cluster.ts";
import { eventsOf } from "../../support/placing.ts";

const judge = (says: "warning" | "repaired", reason = "ECC errors"): Command => ({
  kind: "node.health",
  node: nodeId("n1"),
  verdict: says,
  reason,
});
const stateOf = (c: Cluster) => c.state.node(nodeId("n1"))?.state;
const openNotices = (c: Cluster): readonly string[] =>
  [...c.state.notices()].filter(({ clearedAt }) => clearedAt === undefined).map(({ key }) => key);

/** Brings node n1 into a state. */
const SET_UP: Readonly<Record<string, (c: Cluster) => void>> = {
  ready: () => {},
  degraded: (c) => void c.apply(health("n1", "late")),
  draining: (c) => {
    c.apply(submit());
    c.place(1, "n1");
    c.apply(drain("n1"));
  },
  drained: (c) => void c.apply(drain("n1")),
  silent: (c) => void c.apply(health("n1", "silent")),
  disabled: (c) => void c.apply(disable("n1")),
  hardware: (c) => void c.apply(health("n1", "hardware")),
};

describe("a verdict on a node", () => {
  it.each([
    ["ready", "heard", "repeated", "ready"],
    ["ready", "late", "accepted", "degraded"],
    ["ready", "silent", "accepted", "down silent"],
    ["ready", "hardware", "accepted", "down hardware"],
    ["degraded", "heard", "accepted", "ready"],
    ["degraded", "late", "repeated", "degraded silent"],
    ["degraded", "silent", "accepted", "down silent"],
    ["degraded", "hardware", "accepted", "down hardware"],
    ["draining", "heard", "repeated", "draining"],
    ["draining", "late", "repeated", "draining"],
    ["draining", "silent", "accepted", "down silent"],
    ["draining", "hardware", "accepted", "down hardware"],
    ["drained", "heard", "repeated", "drained"],
    ["drained", "late", "repeated", "drained"],
    ["drained", "silent", "accepted", "down silent"],
    ["drained", "hardware", "accepted", "down hardware"],
    ["silent", "heard", "accepted", "ready"],
    ["silent", "late", "repeated", "down silent"],
    ["silent", "silent", "repeated", "down silent"],
    ["silent", "hardware", "accepted", "down hardware"],
    ["disabled", "heard", "repeated", "down disabled"],
    ["disabled", "late", "repeated", "down disabled"],
    ["disabled", "silent", "repeated", "down disabled"],
    ["disabled", "hardware", "accepted", "down hardware"],
    ["hardware", "heard", "repeated", "down hardware"],
    ["hardware", "late", "repeated", "down hardware"],
    ["hardware", "silent", "repeated", "down hardware"],
    ["hardware", "hardware", "repeated", "down hardware"],
  ] as const)("that is %s: %s is %s, then %s", (before, says, outcome, after) => {
    const c = createCluster(register("n1"));
    SET_UP[before]?.(c);
    expect(verdict(c.one(health("n1", says)))).toBe(outcome);
    const state = stateOf(c);
    const cause = state !== undefined && "cause" in state ? ` ${state.cause}` : "";
    expect(`${state?.kind}${state?.kind === "degraded" && after === "degraded" ? "" : cause}`).toBe(after);
  });

  it("that is unknown is rejected", () => {
    for (const says of ["heard", "late", "silent", "hardware"] as const)
      expect(verdict(createCluster().one(health("n1", says)))).toBe("unknown_node");
  });
});

describe("broken hardware", () => {
  it("raises one notice with the node and the cause, cleared when the node returns", () => {
    const c = createCluster(register("n1"));
    c.apply(health("n1", "hardware"));
    expect([...c.state.notices()][0]?.text).toMatch(/^node "n1" is down: heartbeats/);
    expect(openNotices(c)).toEqual(["node_broken/n1"]);
    c.apply(disable("n1"));
    c.apply(enable("n1"));
    expect(openNotices(c)).toEqual([]);
  });

  it("returns the node after its repair, to drained when it was drained before", () => {
    const c = createCluster(register("n1"));
    expect(verdict(c.one(judge("repaired")))).toBe("repeated");
    c.apply(health("n1", "hardware"));
    expect(moves(c.apply(judge("repaired")))).toEqual(["n1: down > ready"]);
    expect(openNotices(c)).toEqual([]);
    c.apply(drain("n1"), health("n1", "hardware"));
    expect(moves(c.apply(judge("repaired")))).toEqual(["n1: down > drained"]);
  });

  it("after its repair does not return a silent or a disabled node", () => {
    for (const down of [health("n1", "silent"), disable("n1")]) {
      const c = createCluster(register("n1"), down);
      expect(verdict(c.one(judge("repaired")))).toBe("repeated");
      expect(c.nodeState("n1")).toBe("down");
    }
  });
});

describe("a hardware warning", () => {
  it("keeps its first time until the repair, and does not move the node", () => {
    const c = createCluster(register("n1"));
    const [event] = eventsOf(c.apply(judge("warning")), "node_changed");
    expect(event).toMatchObject({
      node: "n1",
      from: "ready",
      to: "ready",
      reason: "hardware_warning",
      message: "ECC errors",
    });
    const since = c.state.node(nodeId("n1"))?.warning?.since;
    c.advance(1000);
    expect(verdict(c.one(judge("warning")))).toBe("repeated");
    expect(verdict(c.one(judge("warning", "XID 79")))).toBe("accepted");
    expect(c.state.node(nodeId("n1"))?.warning).toEqual({ reason: "XID 79", since });
    const [well] = eventsOf(c.apply(judge("repaired")), "node_changed");
    expect(well).toMatchObject({ from: "ready", to: "ready", reason: "hardware_ok", message: "XID 79" });
    expect(c.state.node(nodeId("n1"))?.warning ?? null).toBeNull();
  });
});

describe("the audit log of node health", () => {
  it("records each change of a sensitive node once, and no change of other nodes", () => {
    const c = createCluster(
      vcluster("safe", { scheduler: "sensitive_reservation" }),
      register("n1", { homeVCluster: vclusterId("safe") }),
      register("n2"),
    );
    c.apply(health("n1", "late"), health("n1", "late"), health("n2", "late"), health("n1", "heard"));
    const lines = [...c.state.audit()].filter(({ action }) => action === "node.health");
    expect(lines.map(({ node, detail }) => `${node} ${detail}`)).toEqual([
      "n1 late: heartbeats",
      "n1 heard: heartbeats",
    ]);
  });
});
