// Plans: every placement is rechecked, and a stale one is refused.

import { type Applied, beginRestore, type Command, logIndex, sensitiveNodes, snapshotLines } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  drain,
  moves,
  nodeId,
  orders,
  plan,
  register,
  submit,
  tenant,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

type Plan = Extract<Command, { kind: "plan.commit" }>;
const asPlan = (command: Command): Plan => command as Plan;

describe("plan.commit", () => {
  it("commits the claims, then orders the nodes", () => {
    const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2 }));
    const applied = c.place(1, "n2", "n1");
    expect(applied.outcomes).toEqual([
      { kind: "accepted", id: null, placements: [{ allocation: "1", refusal: null }] },
    ]);
    expect(orders(applied)).toEqual(["run 1/1 on n2", "run 1/1 on n1"]);
    expect(moves(applied)).toEqual(["1: pending > staging"]);
    expect(c.claims("n1")).toEqual(["1/1"]);
    expect(c.state.freeNodeCount).toBe(0);
    const record = [...c.state.placed()][0];
    expect(record).toMatchObject({ attempt: 1, scores: { total: 500 }, phase: { nodes: ["n2", "n1"] } });
  });

  it("decides each placement separately, in order", () => {
    const c = createCluster(register("n1"), register("n2"), submit(), submit(), submit());
    const placements = [1, 2, 3].map((n) => asPlan(plan(c.state, n, [n === 3 ? "n2" : "n1"])).placements[0]);
    const applied = c.apply({
      ...asPlan(plan(c.state, 1, [])),
      placements: placements.filter((p) => p !== undefined),
    });
    const [outcome] = applied.outcomes;
    expect(outcome?.kind === "accepted" && outcome.placements?.map((p) => p.refusal?.code ?? null)).toEqual([
      null,
      "node_unavailable",
      null,
    ]);
    expect(applied.events.filter((event) => event.kind === "placement_refused")).toHaveLength(1);
    expect(c.phase(2)).toBe("pending");
  });

  const refusals: readonly [string, string, (c: ReturnType<typeof createCluster>) => Command][] = [
    ["an unknown allocation", "unknown_allocation", (c) => plan(c.state, 99, ["n1"])],
    ["an unknown node", "node_unavailable", (c) => plan(c.state, 1, ["nowhere"])],
    ["a drained node", "node_unavailable", (c) => plan(c.state, 1, ["drained"])],
    ["a node of another vCluster", "node_unavailable", (c) => plan(c.state, 1, ["home"])],
    ["too many nodes", "constraint_unmet", (c) => plan(c.state, 1, ["n1", "n2"])],
    ["too few nodes", "constraint_unmet", (c) => plan(c.state, 2, ["n1"])],
    ["a node twice", "constraint_unmet", (c) => plan(c.state, 2, ["n1", "n1"])],
    ["a node without the GPUs", "constraint_unmet", (c) => plan(c.state, 3, ["n1"])],
    ["a required node left out", "constraint_unmet", (c) => plan(c.state, 4, ["n2"])],
    ["an excluded node", "constraint_unmet", (c) => plan(c.state, 5, ["n1"])],
    ["nodes beyond the quota", "quota_exceeded", (c) => plan(c.state, 6, ["n1", "n2"])],
    ["another vCluster's allocation", "stale_plan", (c) => plan(c.state, 1, ["n1"], "other")],
    ["a vCluster that is not there", "unknown_vcluster", (c) => plan(c.state, 1, ["n1"], "nowhere")],
    ["an old basis", "stale_plan", (c) => ({ ...asPlan(plan(c.state, 1, ["n1"])), basis: logIndex(0) })],
    ["a basis from the future", "stale_plan", (c) => ({ ...asPlan(plan(c.state, 1, ["n1"])), basis: logIndex(99) })],
    [
      "another attempt",
      "stale_plan",
      (c) => {
        const good = asPlan(plan(c.state, 1, ["n1"]));
        return { ...good, placements: good.placements.map((p) => ({ ...p, attempt: 2 as typeof p.attempt })) };
      },
    ],
  ];
  it.each(refusals)("refuses %s: %s", (_what, code, command) => {
    const c = createCluster(
      vcluster("other"),
      tenant("small", { maxNodes: 2, maxConcurrentAllocations: 1 }),
      register("n1"),
      register("n2"),
      register("n3"),
      register("drained"),
      drain("drained"),
      register("home", { homeVCluster: vclusterId("other") }),
      submit(),
      submit({ nodes: 2 }),
      submit({ resources: { gpuType: "H200", gpuCount: 1 } }),
      submit({ resources: { requiredNodes: [nodeId("n1")] } }),
      submit({ resources: { excludedNodes: [nodeId("n1")] } }),
      submit({ tenant: "small", nodes: 2 }),
      submit({ tenant: "small" }),
    );
    if (code === "quota_exceeded") c.place(7, "n3");
    // The refusal itself is noted; nothing else changes.
    const records = () => [...Array.from(c.state.allocations(), ({ past: _, ...rest }) => rest), ...c.state.nodes()];
    const before = records();
    expect(verdict(c.one(command(c)))).toBe(code);
    expect(records()).toEqual(before);
  });

  it("counts releasing nodes and running allocations against the quota", () => {
    const c = createCluster(
      tenant("small", { maxNodes: 2, maxConcurrentAllocations: 1 }),
      register("n1"),
      register("n2"),
      register("n3"),
      submit({ tenant: "small" }),
      submit({ tenant: "small" }),
      submit({ tenant: "small", nodes: 2 }),
    );
    c.place(1, "n1");
    const [full] = c.place(2, "n2").outcomes;
    expect(full).toMatchObject({
      placements: [{ refusal: { code: "quota_exceeded", figures: { limit: 1, current: 1, requested: 1 } } }],
    });
    c.apply(cancel(1));
    const [held] = c.place(3, "n2", "n3").outcomes;
    expect(held).toMatchObject({
      placements: [
        {
          refusal: {
            detail: 'tenant "small" would exceed its max_nodes quota (limit 2, in use 1, requested 2)',
            figures: { limit: 2, current: 1, requested: 2 },
          },
        },
      ],
    });
    expect(verdict(c.place(2, "n2").outcomes[0])).toBe("accepted");
  });

  it("compares GPU types without case, and accepts a home node for its own vCluster", () => {
    const gpu = {
      cpuCores: 8,
      memoryBytes: 1,
      gpuType: "h200",
      gpuCount: 4,
      features: ["ib"],
      hostname: "g",
      kernel: "",
      isolation: "",
      hollow: false,
    };
    const c = createCluster(
      register("g1", { capabilities: gpu, homeVCluster: vclusterId("batch") }),
      submit({ resources: { gpuType: "H200", gpuCount: 4, features: ["ib"], cpuCores: 8, memoryBytes: 1 } }),
    );
    expect(verdict(c.place(1, "g1").outcomes[0])).toBe("accepted");
  });
});

describe("the pool of sensitive work", () => {
  const pool = (sensitivePoolSize: number | null): Command => ({ kind: "limits.set", limits: { sensitivePoolSize } });
  const refusal = ({ outcomes: [outcome] }: Applied): string | null | undefined =>
    outcome?.kind === "accepted" ? (outcome.placements?.[0]?.refusal?.code ?? null) : outcome?.refusal.code;
  const safe = (nodes: number, tenantName = "physics") => submit({ vcluster: "safe", nodes, tenant: tenantName });
  const sensitive = (...more: Command[]) =>
    createCluster(
      vcluster("safe", { scheduler: "sensitive_reservation" }),
      vcluster("safer", { scheduler: "sensitive_reservation" }),
      ...["n1", "n2", "n3", "n4"].map((name) => register(name)),
      ...more,
    );

  it("is common to all sensitive vClusters and tenants, and limits no other work", () => {
    const c = sensitive(pool(2), safe(1), submit({ vcluster: "safer", tenant: "art" }), safe(1), submit({ nodes: 1 }));
    const at = (n: number, vc: string, node: string) =>
      c.apply({ ...asPlan(plan(c.state, n, [node])), vcluster: vclusterId(vc) });
    expect(refusal(at(1, "safe", "n1"))).toBeNull();
    expect(refusal(at(2, "safer", "n2"))).toBeNull();
    expect(at(3, "safe", "n3").outcomes[0]).toMatchObject({
      placements: [
        {
          refusal: {
            code: "quota_exceeded",
            detail: "sensitive work would exceed sensitive_pool_size (limit 2, in use 2, requested 1)",
            figures: { limit: 2, current: 2, requested: 1 },
          },
        },
      ],
    });
    expect(refusal(at(4, "batch", "n4"))).toBeNull();
    expect(sensitiveNodes(c.state)).toBe(2);
  });

  it("does not preempt when its size is lowered, and accepts work again when it is raised", () => {
    const c = sensitive(safe(2), safe(1));
    const place = (n: number, ...nodes: string[]) =>
      refusal(c.apply({ ...asPlan(plan(c.state, n, nodes)), vcluster: vclusterId("safe") }));
    expect(place(1, "n1", "n2")).toBeNull();
    c.apply(pool(0));
    expect(c.phase(1)).toBe("staging");
    expect(place(2, "n3")).toBe("quota_exceeded");
    c.apply(pool(3));
    expect(place(2, "n3")).toBeNull();
  });

  it("is part of snapshots, and an invalid size is refused", () => {
    const c = sensitive(pool(7));
    expect(c.apply(pool(7)).outcomes[0]).toMatchObject({ repeated: true });
    for (const size of [-1, 1.5, 10_000_000]) expect(c.apply(pool(size)).outcomes[0]?.kind).toBe("rejected");
    expect(c.state.limits).toEqual({ sensitivePoolSize: 7 });
    const hash = (text: string): string => text.length.toString(16).padStart(64, "0");
    const restore = beginRestore(hash);
    for (const line of snapshotLines(c.state, hash)) restore.line(line);
    expect(restore.finish().limits).toEqual({ sensitivePoolSize: 7 });
  });
});
