// Black-hole nodes: the failure that reaches the limit quarantines the node at once. Mistakes of users are not counted
// against a node.

import { type Command, duration, type QuarantineRule, type ReportCommand, type UserName } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  drain,
  id,
  nodeId,
  origin,
  plan,
  register,
  reportOf,
  submit,
  vcluster,
  verdict,
} from "./support/cluster.ts";

const RULE: QuarantineRule = {
  failures: 3,
  quick: duration(10_000),
  maxPercent: 30,
  probation: duration(600_000),
};
const NAMES = ["n1", "n2", "n3", "n4"];
const cluster = (): Cluster => createCluster(...NAMES.map((name) => register(name)));
const by = (user: string): Command => submit({}, { ...origin(), user: user as UserName });

/** As the leader writes it down. */
function fails(
  c: Cluster,
  n: number,
  node: string,
  reason: "launch_failed" | "prologue_failed" | "exit_code",
  more: Pick<ReportCommand, "mayBeWork"> = {},
): void {
  const report = reportOf(n, node, c.state.allocation(id(n))?.attempt as never, "failed", reason) as ReportCommand;
  c.apply({ ...report, ...(reason === "exit_code" ? {} : { prologueRetries: 3 }), ...more, quarantineRule: RULE });
}
function runs(c: Cluster, n: number, node: string, reason: Parameters<typeof fails>[3]): void {
  c.apply(by("ada"));
  c.place(n, node);
  fails(c, n, node, reason);
}

describe("the failure that reaches the limit", () => {
  it("quarantines the node in the entry that reports it", () => {
    const c = cluster();
    runs(c, 1, "n1", "launch_failed");
    runs(c, 2, "n1", "prologue_failed");
    expect(c.nodeState("n1")).toBe("ready");
    runs(c, 3, "n1", "launch_failed");
    expect(c.state.node(nodeId("n1"))?.state).toMatchObject({ kind: "down", cause: "quarantined", back: "ready" });
    expect([...c.state.notices()].map(({ key }) => key)).toEqual(["node_quarantined/n1"]);
  });

  it("counts only with several users where the program itself may be wrong", () => {
    const c = cluster();
    for (let n = 1; n <= 5; n += 1) runs(c, n, "n1", "exit_code");
    expect(c.nodeState("n1"), "one user's mistyped commands").toBe("ready");
    for (const [n, user] of [
      [6, "bob"],
      [7, "eve"],
    ] as const) {
      c.apply(by(user));
      c.place(n, "n1");
      fails(c, n, "n1", "exit_code");
    }
    expect(c.nodeState("n1")).toBe("down");
  });

  it("counts only with several users where a folder or an image may be mistyped", () => {
    const c = cluster();
    for (const [n, user] of ["ada", "ada", "ada", "ada", "bob", "eve"].entries()) {
      expect(c.nodeState("n1"), "one user's mistyped folder").toBe("ready");
      c.apply(by(user));
      c.place(n + 1, "n1");
      fails(c, n + 1, "n1", "prologue_failed", { mayBeWork: true });
    }
    expect(c.nodeState("n1")).toBe("down");
    expect([...c.state.notices()][0]?.text).toContain("work of 3 users");
  });

  it("quarantines no further node when too few would stay in service", () => {
    const c = cluster();
    for (let n = 1; n <= 3; n += 1) runs(c, n, "n1", "launch_failed");
    for (let n = 4; n <= 6; n += 1) runs(c, n, "n2", "launch_failed");
    expect([c.nodeState("n1"), c.nodeState("n2")]).toEqual(["down", "ready"]);
  });

  it("lets other work on the node end first, unless an administrator drains it", () => {
    for (const drained of [false, true]) {
      const c = cluster();
      for (let n = 1; n <= 2; n += 1) runs(c, n, "n1", "launch_failed");
      c.apply(vcluster("small", { sharesNodes: true }));
      for (const n of [3, 4]) {
        c.apply(submit({ vcluster: "small", resources: { gpuCount: 0, cpuCores: 1 } }));
        const command = plan(c.state, n, ["n1"], "small");
        if (command.kind !== "plan.commit") throw new Error("no plan");
        c.apply({ ...command, placements: command.placements.map((each) => ({ ...each, shared: true as const })) });
        expect(c.phase(n)).toBe("staging");
      }
      fails(c, 3, "n1", "launch_failed");
      expect(c.nodeState("n1")).toBe("draining");
      if (drained) expect(verdict(c.one(drain("n1")))).toBe("accepted");
      c.report(4, "n1", "running");
      c.report(4, "n1", "completed");
      expect(c.nodeState("n1")).toBe(drained ? "drained" : "down");
    }
  });
});

describe("an allocation that could not be launched", () => {
  it("is tried on another node, whatever its policy, and the try is not counted as a requeue", () => {
    const c = cluster();
    c.apply(submit({ lifecycle: { requeuePolicy: "never", maxRequeue: 0 } }));
    c.place(1, "n1");
    fails(c, 1, "n1", "launch_failed");
    expect(c.state.allocation(id(1))).toMatchObject({
      requeues: 0,
      excludedNodes: ["n1"],
      phase: { kind: "pending", cause: "launch_failed" },
    });
    c.place(1, "n1");
    expect(c.phase(1)).toBe("pending");
  });

  it("on any node fails, and its failures are removed from the nodes", () => {
    const c = cluster();
    // Three at once: the first node is quarantined before the failures prove to be the work's.
    for (let n = 1; n <= 3; n += 1) runs(c, n, "n1", "launch_failed");
    expect(c.nodeState("n1")).toBe("down");
    for (const name of ["n2", "n3", "n4"]) {
      c.place(1, name);
      fails(c, 1, name, "launch_failed");
    }
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "launch_failed" });
    expect(NAMES.map((name) => c.state.node(nodeId(name))?.faults?.length ?? 0)).toEqual([2, 0, 0, 0]);
    expect(c.nodeState("n1")).toBe("ready");
    expect([...c.state.notices()][0]?.clearedAt).toBeDefined();
  });
});
