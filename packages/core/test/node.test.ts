// Nodes: registration, health, drain, disable, and the claims on them.

import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  disable,
  drain,
  enable,
  health,
  id,
  moves,
  nodeId,
  orders,
  register,
  submit,
  undrain,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

const busy = () => {
  const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }));
  c.place(1, "n1", "n2");
  return c;
};

describe("node.register", () => {
  it("adds a new node as ready, and its repetition changes nothing", () => {
    const c = createCluster();
    expect(moves(c.apply(register("n1")))).toEqual(["n1: unknown > ready"]);
    expect(verdict(c.one(register("n1")))).toBe("repeated");
    expect(verdict(c.one(register("n1", { bootId: "b2" })))).toBe("accepted");
    expect(c.state.node(nodeId("n1"))?.bootId).toBe("b2");
  });
  it("keeps claims after a reboot", () => {
    const c = busy();
    c.apply(register("n1", { bootId: "b2" }));
    expect(c.claims("n1")).toEqual(["1/1"]);
  });
  it("returns a silent node to service, and no disabled one", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(health("n1", "silent"), disable("n2"));
    c.apply(register("n1"), register("n2"));
    expect([c.nodeState("n1"), c.nodeState("n2")]).toEqual(["ready", "down"]);
  });
  it("refuses an unknown home and impossible hardware", () => {
    const c = createCluster();
    expect(verdict(c.one(register("n1", { homeVCluster: vclusterId("nowhere") })))).toBe("unknown_vcluster");
    const base = register("n1");
    if (base.kind !== "node.register") throw new Error("not a registration");
    const bad = { ...base, capabilities: { ...base.capabilities, cpuCores: 1.5 } };
    expect(verdict(c.one(bad))).toBe("invalid_argument");
    expect(c.state.nodeCount).toBe(0);
  });
});

describe("node.health", () => {
  it("degrades a late node, and returns it when it is heard", () => {
    const c = createCluster(register("n1"));
    expect(moves(c.apply(health("n1", "late")))).toEqual(["n1: ready > degraded"]);
    expect(verdict(c.one(health("n1", "late")))).toBe("repeated");
    expect(c.state.freeNodeCount).toBe(0);
    expect(moves(c.apply(health("n1", "heard")))).toEqual(["n1: degraded > ready"]);
    expect(verdict(c.one(health("n1", "heard")))).toBe("repeated");
    expect(verdict(c.one(health("n9", "heard")))).toBe("unknown_node");
  });
  it("takes a silent node down and requeues its work", () => {
    const c = busy();
    const applied = c.apply(health("n1", "silent"));
    expect(moves(applied)).toEqual(["n1: ready > down", "1: staging > pending"]);
    expect(orders(applied)).toEqual(["stop 1/1 on n2", "stop 1/1 on n1"]);
    expect([c.claims("n1"), c.claims("n2")]).toEqual([[], ["1/1 releasing"]]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ cause: "node_failure" });
    expect(moves(c.apply(health("n1", "heard")))).toEqual(["n1: down > ready"]);
  });
  it("releases the claims that a silent node had yet to confirm", () => {
    const c = busy();
    c.apply(cancel(1));
    c.apply(health("n1", "silent"));
    expect(c.claims("n1")).toEqual([]);
    c.apply(disable("n2"));
    expect(c.claims("n2")).toEqual(["1/1 releasing"]);
    c.apply(health("n2", "silent"));
    expect(c.claims("n2")).toEqual([]);
    expect(c.state.node(nodeId("n2"))?.state).toMatchObject({ kind: "down", cause: "disabled" });
    expect(c.state.tables.finished.size).toBe(1);
  });
  it("returns a node to drained when it was draining", () => {
    const c = busy();
    c.apply(drain("n1"));
    expect(verdict(c.one(health("n1", "late")))).toBe("repeated");
    c.apply(health("n1", "silent"));
    expect(moves(c.apply(health("n1", "heard")))).toEqual(["n1: down > drained"]);
  });
  it("keeps a node with broken hardware down when it is heard", () => {
    const c = busy();
    const applied = c.apply(health("n1", "hardware"));
    expect(orders(applied)).toEqual(["stop 1/1 on n2", "stop 1/1 on n1"]);
    expect(c.claims("n1")).toEqual([]);
    expect(verdict(c.one(health("n1", "heard")))).toBe("repeated");
    expect(verdict(c.one(health("n1", "hardware")))).toBe("repeated");
    expect(verdict(c.one(enable("n1")))).toBe("illegal_transition");
    c.apply(disable("n1"));
    expect(moves(c.apply(enable("n1")))).toEqual(["n1: down > ready"]);
  });
});

describe("a drain", () => {
  it("of an idle node passes through draining to drained", () => {
    const c = createCluster(register("n1"));
    expect(verdict(c.one(undrain("n1")))).toBe("illegal_transition");
    expect(moves(c.apply(drain("n1")))).toEqual(["n1: ready > draining", "n1: draining > drained"]);
    expect(verdict(c.one(drain("n1")))).toBe("repeated");
    expect(moves(c.apply(undrain("n1")))).toEqual(["n1: drained > ready"]);
    expect(verdict(c.one(drain("n9")))).toBe("unknown_node");
    expect(verdict(c.one(undrain("n9")))).toBe("unknown_node");
  });
  it("accepts another reason while it lasts and afterwards", () => {
    const again = (reason: string, urgent = false) => ({ ...drain("n1", urgent), reason }) as ReturnType<typeof drain>;
    const reason = () => c.state.node(nodeId("n1"))?.state;
    const c = busy();
    c.apply(drain("n1"));
    c.apply(drain("n2", true), undrain("n2"));
    const since = reason()?.since;
    expect(verdict(c.one(again("new fan")))).toBe("accepted");
    expect(reason()).toMatchObject({ kind: "draining", reason: "new fan", since });
    expect(verdict(c.one(again("new fan")))).toBe("repeated");
    expect(verdict(c.one(again("")))).toBe("repeated");
    expect(verdict(c.one(again("hurry", true)))).toBe("accepted");
    c.report(1, "n1", "completed");
    c.report(1, "n2", "completed");
    expect(reason()).toMatchObject({ kind: "drained", reason: "hurry" });
    expect(moves(c.apply(again("new board")))).toEqual([]);
    expect(reason()).toMatchObject({ kind: "drained", reason: "new board" });
  });
  it("waits for the last claim", () => {
    const c = busy();
    expect(moves(c.apply(drain("n1")))).toEqual(["n1: ready > draining"]);
    expect(verdict(c.one(drain("n1")))).toBe("repeated");
    c.report(1, "n1", "completed");
    expect(c.nodeState("n1")).toBe("draining");
    expect(moves(c.report(1, "n2", "completed"))).toEqual([
      "1: staging > running",
      "n1: draining > drained",
      "1: running > completed",
    ]);
  });
  it("is refused for a node that is down", () => {
    const c = createCluster(register("n1"), disable("n1"));
    expect(verdict(c.one(drain("n1")))).toBe("illegal_transition");
  });
});

describe("a disabled node", () => {
  it("has its work stopped, and is enabled after the agent confirms", () => {
    const c = busy();
    const applied = c.apply(disable("n1"));
    expect(orders(applied)).toEqual(["stop 1/1 on n1", "stop 1/1 on n2"]);
    expect(c.claims("n1")).toEqual(["1/1 releasing"]);
    expect(c.phase(1)).toBe("pending");
    expect(verdict(c.one(disable("n1")))).toBe("repeated");
    expect(verdict(c.one(health("n1", "heard")))).toBe("repeated");
    c.report(1, "n1", "failed", "stopped");
    expect(c.claims("n1")).toEqual([]);
    expect(moves(c.apply(enable("n1")))).toEqual(["n1: down > ready"]);
    expect(verdict(c.one(enable("n1")))).toBe("illegal_transition");
  });
  it("returns to drained only when its claims are released", () => {
    const c = busy();
    c.apply(drain("n1"));
    c.apply(disable("n1"));
    expect(verdict(c.one(enable("n1")))).toBe("illegal_transition");
    c.report(1, "n1", "failed", "stopped");
    expect(moves(c.apply(enable("n1")))).toEqual(["n1: down > drained"]);
  });
  it("exists only for a registered name: disable and enable of others are rejected", () => {
    const c = createCluster();
    expect([verdict(c.one(enable("x"))), verdict(c.one(disable("x")))]).toEqual(["unknown_node", "unknown_node"]);
  });
  it("does not return by a heartbeat", () => {
    const c = createCluster(register("n1"));
    c.apply(health("n1", "silent"));
    expect(verdict(c.one(enable("n1")))).toBe("illegal_transition");
    c.apply(disable("n1"));
    expect(verdict(c.one(health("n1", "heard")))).toBe("repeated");
    expect(moves(c.apply(enable("n1")))).toEqual(["n1: down > ready"]);
  });
});
