// Quotas in the recheck of a placement: exactly at the limit, and one over it.

import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  register,
  submit,
  tenant,
  tenantId,
  vcluster,
} from "../../support/cluster.ts";
import { placing, refusalOfPlacing } from "../../support/placing.ts";

describe("a tenant's quota", () => {
  const cluster = (quota: Parameters<typeof tenant>[1], ...sizes: readonly number[]): Cluster =>
    createCluster(
      tenant("small", quota),
      ...["n1", "n2", "n3", "n4"].map((name) => register(name)),
      ...sizes.map((nodes) => submit({ tenant: "small", nodes })),
    );

  it("of nodes can be filled exactly and not exceeded by one", () => {
    const c = cluster({ maxNodes: 3 }, 2, 2, 1);
    expect(refusalOfPlacing(c, 1, ["n1", "n2"])).toBeNull();
    expect(refusalOfPlacing(c, 2, ["n3", "n4"])).toMatchObject({
      code: "quota_exceeded",
      figures: { limit: 3, current: 2, requested: 2 },
    });
    expect(refusalOfPlacing(c, 3, ["n3"])).toBeNull();
    expect(c.state.usage(tenantId("small"))).toEqual({ nodes: 3, running: 2 });
  });

  it("of allocations can be filled exactly and not exceeded by one", () => {
    const c = cluster({ maxConcurrentAllocations: 2 }, 1, 1, 1);
    expect(refusalOfPlacing(c, 1, ["n1"])).toBeNull();
    expect(refusalOfPlacing(c, 2, ["n2"])).toBeNull();
    expect(refusalOfPlacing(c, 3, ["n3"])).toMatchObject({
      code: "quota_exceeded",
      figures: { limit: 2, current: 2, requested: 1 },
    });
    c.report(1, "n1", "completed");
    expect(refusalOfPlacing(c, 3, ["n3"])).toBeNull();
  });

  it("of nodes counts a releasing claim until the node confirms", () => {
    const c = cluster({ maxNodes: 1 }, 1, 1);
    c.place(1, "n1");
    c.apply(cancel(1));
    expect(refusalOfPlacing(c, 2, ["n2"])?.code).toBe("quota_exceeded");
    c.report(1, "n1", "failed", "stopped");
    expect(refusalOfPlacing(c, 2, ["n2"])).toBeNull();
  });

  it("does not limit other tenants", () => {
    const c = cluster({ maxNodes: 1, maxConcurrentAllocations: 1 }, 1);
    c.apply(submit({ tenant: "other", nodes: 3 }));
    c.place(1, "n1");
    expect(refusalOfPlacing(c, 2, ["n2", "n3", "n4"])).toBeNull();
  });

  it("counts the earlier placements of the same plan", () => {
    const c = cluster({ maxNodes: 1 }, 1, 1);
    const [first, second] = [placing(c, 1, ["n1"]), placing(c, 2, ["n2"])];
    const applied = c.apply({ ...first, placements: [...first.placements, ...second.placements] });
    const [outcome] = applied.outcomes;
    expect(outcome?.kind === "accepted" && outcome.placements?.map(({ refusal }) => refusal?.code ?? null)).toEqual([
      null,
      "quota_exceeded",
    ]);
  });
});

describe("the pool of sensitive nodes", () => {
  const cluster = (size: number | null): Cluster =>
    createCluster(
      vcluster("safe", { scheduler: "sensitive_reservation" }),
      { kind: "limits.set", limits: { sensitivePoolSize: size } },
      ...["n1", "n2", "n3"].map((name) => register(name)),
      submit({ vcluster: "safe", nodes: 2 }),
      submit({ vcluster: "safe" }),
      submit({ nodes: 1 }),
    );
  it.each([
    [null, null],
    [3, null],
    [2, "quota_exceeded"],
  ])("of size %s: a third node is %s", (size, expected) => {
    const c = cluster(size);
    expect(refusalOfPlacing(c, 1, ["n1", "n2"])).toBeNull();
    expect(refusalOfPlacing(c, 2, ["n3"])?.code ?? null).toBe(expected);
  });
  it("of size 1 refuses two nodes with the figures, and does not concern other work", () => {
    const c = cluster(1);
    expect(refusalOfPlacing(c, 1, ["n1", "n2"])?.figures).toEqual({ limit: 1, current: 0, requested: 2 });
    expect(refusalOfPlacing(c, 3, ["n3"])).toBeNull();
  });
});
