// Shares of nodes: which allocations may share a node, the rest that stays free, the charge, and that a plan cannot
// overfill a node.

import { attempt, type Command, duration, roomOf, shareOf } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  id,
  nodeId,
  orders,
  plan,
  register,
  submit,
  tenant,
  tenantId,
  vcluster,
} from "./support/cluster.ts";

const GB = 1 << 30;
const capabilities = {
  cpuCores: 8,
  memoryBytes: 8 * GB,
  gpuType: "H100",
  gpuCount: 4,
  features: [],
  hostname: "n",
  kernel: "6.1",
  isolation: "cgroup",
  hollow: false,
};
const small = (gpuCount: number, change: { readonly tenant?: string; readonly cpuCores?: number } = {}): Command =>
  submit({
    vcluster: "small",
    tenant: change.tenant ?? "physics",
    resources: { gpuCount, cpuCores: change.cpuCores ?? 0 },
  });

const cluster = (...more: readonly Command[]): Cluster =>
  createCluster(
    tenant("physics", { maxNodes: 1 }),
    tenant("art"),
    vcluster("small", { sharesNodes: true }),
    register("n1", { capabilities }),
    register("n2", { capabilities }),
    ...more,
  );

function share(c: Cluster, n: number, ...nodes: readonly string[]): string {
  const command = plan(c.state, n, nodes, "small") as Extract<Command, { kind: "plan.commit" }>;
  const [placement] = command.placements;
  if (placement === undefined) throw new Error("nothing is placed");
  const applied = c.apply({ ...command, placements: [{ ...placement, shared: true }] });
  const [outcome] = applied.outcomes;
  const refusal = outcome?.kind === "accepted" ? outcome.placements?.[0]?.refusal : null;
  return refusal === null || refusal === undefined ? orders(applied).join(", ") : `${refusal.code}: ${refusal.detail}`;
}

describe("shares of a node", () => {
  it("are given to allocations of one tenant until the node is full", () => {
    const c = cluster(small(2), small(1), small(2), small(1, { cpuCores: 7 }));
    expect(share(c, 1, "n1")).toBe("run 1/1 on n1");
    // The tenant holds one node, and may have one.
    expect(share(c, 2, "n1")).toBe("run 2/1 on n1");
    expect(share(c, 3, "n1")).toBe('node_unavailable: node "n1" has no room for allocation 3');
    expect(share(c, 4, "n1")).toBe('node_unavailable: node "n1" has no room for allocation 4');
    expect(share(c, 4, "n2")).toMatch(/^quota_exceeded/);
    expect(c.state.node(nodeId("n1"))?.claims).toMatchObject([
      { exclusive: false, share: { gpuCount: 2, cpuCores: 4, memoryBytes: 4 * GB, part: 512 } },
      { exclusive: false, share: { gpuCount: 1, cpuCores: 2, memoryBytes: 2 * GB, part: 256 } },
    ]);
    expect(c.state.usage(tenantId("physics"))).toEqual({ nodes: 1, running: 2 });
    expect(c.state.freeNodeCount).toBe(1);
  });

  it("are refused to other tenants, to whole-node work, and in vClusters without sharing", () => {
    const c = cluster(small(1), small(1, { tenant: "art" }), submit({ tenant: "art", vcluster: "small" }));
    share(c, 1, "n1");
    expect(share(c, 2, "n1")).toBe('node_unavailable: node "n1" is held by 1');
    expect(share(c, 3, "n2")).toBe("node_unavailable: allocation 3 takes whole nodes");
    c.apply(submit({ tenant: "art", resources: { gpuCount: 1 } }));
    const [outcome] = c.apply(plan(c.state, 4, ["n1"])).outcomes;
    expect(outcome?.kind === "accepted" && outcome.placements?.[0]?.refusal?.code).toBe("node_unavailable");
  });

  it("are released one by one, and the last release frees the node", () => {
    const c = cluster(small(1), small(1));
    share(c, 1, "n1");
    share(c, 2, "n1");
    for (const n of [1, 2]) c.report(n, "n1", "running");
    c.advance(1024);
    c.report(1, "n1", "completed");
    expect(c.claims("n1")).toEqual(["2/1"]);
    // A quarter of the node and one GPU for what one of them ran, and for what the other runs.
    const window = { from: 0, to: 1, now: c.state.at };
    expect(c.state.ledger.spent({}, window)).toEqual({ nodeMs: 512, gpuMs: 2048 });
    c.report(2, "n1", "failed");
    expect(c.state.freeNodeCount).toBe(2);
  });

  it("are not preempted, since that would not free the node", () => {
    const c = cluster(small(1), submit({ lifecycle: { preemptionClass: 9, walltime: duration(1000) } }));
    share(c, 1, "n1");
    c.report(1, "n1", "running");
    const record = c.state.allocation(id(1));
    const [outcome] = c.apply({
      kind: "allocation.preempt",
      allocation: id(2),
      basis: c.state.index,
      victims: [{ allocation: id(1), attempt: record?.attempt ?? attempt(0) }],
      nodes: [nodeId("n1")],
    }).outcomes;
    expect(outcome?.kind).toBe("rejected");
    expect(c.phase(1)).toBe("running");
  });
});

it("an unspecified amount is in proportion to the specified one", () => {
  expect(shareOf({ cpuCores: 0, memoryBytes: 0, gpuCount: 1 }, capabilities)).toEqual({
    cpuCores: 2,
    memoryBytes: 2 * GB,
    gpuCount: 1,
    part: 256,
  });
  expect(shareOf({ cpuCores: 0, memoryBytes: 1, gpuCount: 0 }, capabilities)).toMatchObject({ cpuCores: 1, part: 1 });
  expect(roomOf({ capabilities, claims: [] })).toEqual({ cpuCores: 8, memoryBytes: 8 * GB, gpuCount: 4 });
});
