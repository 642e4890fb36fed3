// Black holes are quarantined, probed again, and limited in number; drifted nodes raise notices.

import { type Command, instant, type UserName } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  enable,
  health,
  nodeId,
  origin,
  plan,
  register,
  submit,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

const names = ["n1", "n2", "n3", "n4"];

/** The n-th allocation is submitted, placed on the node, and ends as told. */
function runOn(
  c: Cluster,
  n: number,
  node: string,
  end: "completed" | "launch_failed" | "exit_code",
  user = "ada",
): void {
  c.apply(submit({}, { ...origin(), user: user as UserName }));
  c.place(n, node);
  c.report(n, node, "running");
  if (end === "completed") c.report(n, node, "completed");
  else c.report(n, node, "failed", end);
  c.apply({ kind: "allocation.cancel", origin: origin(), id: String(n) as never, reason: "" });
}
const quarantine = (node: string): Command => ({
  kind: "node.quarantine",
  node: nodeId(node),
  reason: "3 allocations in a row could not be run on it",
  until: instant(2_000_000),
});
const faultsOf = (c: Cluster, node: string): number => c.state.node(nodeId(node))?.faults?.length ?? 0;

describe("black holes", () => {
  it("are detected by failures without a success in between", () => {
    const c = createCluster(...names.map((name) => register(name)));
    runOn(c, 1, "n1", "launch_failed");
    runOn(c, 2, "n1", "launch_failed");
    expect(faultsOf(c, "n1")).toBe(2);
    runOn(c, 3, "n1", "completed");
    expect(faultsOf(c, "n1")).toBe(0);
  });

  it("are not caused by the failing jobs of one user", async () => {
    const { quarantineReason } = await import("@lattice/core");
    const c = createCluster(...names.map((name) => register(name)));
    for (let n = 1; n <= 5; n += 1) runOn(c, n, "n1", "exit_code");
    const node = () => c.state.node(nodeId("n1"));
    expect(quarantineReason(node() as never)).toBeNull();
    runOn(c, 6, "n1", "exit_code", "bob");
    runOn(c, 7, "n1", "exit_code", "eve");
    expect(quarantineReason(node() as never)).toMatch(/work of 3 users/);
  });

  it("are quarantined up to three in ten nodes, and return on probation", () => {
    const c = createCluster(...names.map((name) => register(name)));
    for (let n = 1; n <= 3; n += 1) runOn(c, n, "n1", "launch_failed");
    expect(verdict(c.one(quarantine("n1")))).toBe("accepted");
    expect(c.state.node(nodeId("n1"))?.state).toMatchObject({ kind: "down", cause: "quarantined" });
    expect([...c.state.notices()].map(({ kind }) => kind)).toEqual(["node_quarantined"]);
    expect(verdict(c.one(quarantine("n2")))).toBe("illegal_transition");
    const probe: Command = { kind: "node.probe", node: nodeId("n1") };
    expect(verdict(c.one(probe))).toBe("stale_report");
    c.advance(2_000_000);
    expect(verdict(c.one(probe))).toBe("accepted");
    expect(c.nodeState("n1")).toBe("ready");
    expect(faultsOf(c, "n1")).toBe(2);
    expect([...c.state.notices()][0]?.clearedAt).toBeDefined();
    expect(verdict(c.one(quarantine("n1")))).toBe("accepted");
    expect(verdict(c.one(enable("n1")))).toBe("accepted");
    expect(faultsOf(c, "n1")).toBe(0);
  });
});

describe("a silent node", () => {
  const many = Array.from({ length: 23 }, (_, i) => `m${i + 1}`);
  const open = (c: Cluster): string[] =>
    [...c.state.notices()].filter(({ clearedAt }) => clearedAt === undefined).map(({ key }) => key);

  it("raises one notice, which is cleared when the node is heard again", () => {
    const c = createCluster(...names.map((name) => register(name)));
    c.apply(health("n1", "silent"), health("n1", "silent"));
    expect([...c.state.notices()]).toMatchObject([{ kind: "node_silent", node: "n1", tenant: null, user: null }]);
    expect([...c.state.notices()][0]?.text).toMatch(/^node "n1" is down: /);
    c.apply(health("n1", "heard"));
    expect(open(c)).toEqual([]);
  });

  it("beyond the first twenty adds to one common notice", () => {
    const c = createCluster(...many.map((name) => register(name)));
    for (const name of many) c.apply(health(name, "silent"));
    expect(open(c)).toHaveLength(21);
    expect(open(c).at(-1)).toBe("node_silent/and others");
    for (const name of many.slice(0, 2)) c.apply(health(name, "heard"));
    expect(open(c)).toHaveLength(19);
    c.apply(health("m23", "heard"));
    expect(open(c).includes("node_silent/and others")).toBe(false);
    for (const name of many) c.apply(health(name, "heard"));
    expect(open(c)).toEqual([]);
  });
});

describe("conformance drift", () => {
  const at = (name: string, conformance: string): Command => register(name, { conformance });

  it("raises a notice, which is cleared when the node or most of its group matches again", () => {
    const c = createCluster(...names.map((name) => at(name, "a")));
    c.apply(at("n1", "b"));
    expect(c.state.node(nodeId("n1"))?.drift).toMatchObject({ expected: "a" });
    expect(c.nodeState("n1")).toBe("ready");
    expect([...c.state.notices()].map(({ text }) => text)).toEqual(['node "n1" has drifted: expected a, actual b']);
    c.apply(at("n1", "a"));
    expect(c.state.node(nodeId("n1"))?.drift).toBeUndefined();
    expect([...c.state.notices()][0]?.clearedAt).toBeDefined();
    // All are upgraded, one after the other.
    for (const name of names) c.apply(at(name, "b"));
    c.apply(at("n1", "b"));
    c.apply(at("n2", "b"));
    expect(names.map((name) => c.state.node(nodeId(name))?.drift === undefined)).toEqual([true, true, true, true]);
  });

  it("drains nodes of sensitive vClusters until an operator undrains them, with audit records", () => {
    const home = { homeVCluster: vclusterId("clinic") };
    const c = createCluster(
      vcluster("clinic", { scheduler: "sensitive_reservation" }),
      ...names.map((name) => register(name, { conformance: "a", ...home })),
    );
    c.apply(register("n1", { conformance: "b", ...home }));
    expect(c.state.node(nodeId("n1"))?.state).toMatchObject({
      kind: "drained",
      reason: "conformance_drift: expected=a, actual=b",
    });
    c.apply(register("n1", { conformance: "a", ...home }));
    expect(c.nodeState("n1"), "it waits for an administrator").toBe("drained");
    c.apply(health("n2", "late"));
    const records = [...c.state.audit()].filter(({ scope }) => scope === "sensitive");
    expect(records.map(({ action, node, detail }) => `${action} ${node} ${detail}`)).toEqual([
      "node.drift n1 expected a, actual b",
      "node.drift n1 as expected again: a",
      "node.health n2 late: heartbeats",
    ]);
  });

  it("takes the node out of service, after a drain where work runs on it", () => {
    const c = createCluster(...names.map((name) => at(name, "a")));
    c.apply(submit());
    c.place(1, "n1");
    c.apply(at("n1", "b"));
    const gone: Command = { ...quarantine("n1"), until: null } as Command;
    expect(verdict(c.one(gone))).toBe("accepted");
    expect(c.nodeState("n1")).toBe("draining");
    c.report(1, "n1", "running");
    c.report(1, "n1", "completed");
    expect(c.nodeState("n1")).toBe("drained");
    expect(verdict(c.one(gone))).toBe("accepted");
    expect(c.state.node(nodeId("n1"))?.state).toMatchObject({ kind: "down", cause: "quarantined" });
  });
});

describe("sensitive work", () => {
  it("is not requeued after a node failure", () => {
    const c = createCluster(vcluster("clinic", { scheduler: "sensitive_reservation" }), register("n1"));
    c.apply(submit({ vcluster: "clinic", lifecycle: { requeuePolicy: "always" } }));
    c.apply(plan(c.state, 1, ["n1"], "clinic"));
    c.apply(health("n1", "silent"));
    expect(c.phase(1)).toBe("failed");
  });
});
