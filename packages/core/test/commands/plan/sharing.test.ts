// Placements that share a node with other work of their tenant.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  health,
  nodeId,
  register,
  type SpecChange,
  submit,
  tenant,
  vcluster,
} from "../../support/cluster.ts";
import { placing, refusalIn, refusalOfPlacing } from "../../support/placing.ts";

const capabilities = (cpuCores: number, memoryBytes = 1024, gpuCount = 0) => ({
  cpuCores,
  memoryBytes,
  gpuType: gpuCount === 0 ? "" : "H100",
  gpuCount,
  features: ["ib"],
  hostname: "n",
  kernel: "6.1",
  isolation: "cgroup",
  hollow: false,
});

describe("a shared placement", () => {
  const cluster = (...specs: readonly SpecChange[]): Cluster =>
    createCluster(
      tenant("physics", { maxNodes: 1 }),
      tenant("art"),
      vcluster("small", { sharesNodes: true }),
      register("n1", { capabilities: capabilities(8, 1024, 4) }),
      register("n2", { capabilities: capabilities(8, 1024, 4) }),
      ...specs.map((change) => submit({ vcluster: "small", ...change })),
    );
  const share = (c: Cluster, n: number, node: string) => refusalOfPlacing(c, n, [node], { shared: true });

  it("joins the claims of its tenant up to the last core and not beyond", () => {
    const c = cluster({ resources: { cpuCores: 6 } }, { resources: { cpuCores: 3 } }, { resources: { cpuCores: 2 } });
    expect(share(c, 1, "n1")).toBeNull();
    expect(share(c, 2, "n1")?.code).toBe("node_unavailable");
    expect(share(c, 3, "n1")).toBeNull();
    expect(c.claims("n1")).toEqual(["1/1", "3/1"]);
  });

  it("uses node quota for a new node, and not for a node that the tenant already holds", () => {
    const c = cluster({ resources: { cpuCores: 2 } }, { resources: { cpuCores: 2 } }, { resources: { cpuCores: 2 } });
    expect(share(c, 1, "n1")).toBeNull();
    expect(share(c, 2, "n2")?.figures).toEqual({ limit: 1, current: 1, requested: 1 });
    expect(share(c, 2, "n1")).toBeNull();
  });

  it("joins no other tenant, no exclusive claim, and no node that is not ready", () => {
    const c = cluster(
      { resources: { cpuCores: 2 } },
      { tenant: "art", resources: { cpuCores: 2 } },
      { resources: { cpuCores: 2 } },
    );
    expect(share(c, 1, "n1")).toBeNull();
    expect(share(c, 2, "n1")?.code).toBe("node_unavailable");
    c.apply(health("n1", "late"));
    expect(share(c, 3, "n1")?.code).toBe("node_unavailable");
    const exclusive = cluster({ resources: { cpuCores: 2 } }, { resources: { cpuCores: 2 } });
    expect(refusalOfPlacing(exclusive, 1, ["n1"])).toBeNull();
    expect(share(exclusive, 2, "n1")?.code).toBe("node_unavailable");
  });

  it("is refused for work that takes whole nodes", () => {
    const c = cluster({}, { nodes: [1, 2], resources: { cpuCores: 1 } });
    expect(share(c, 1, "n1")?.code).toBe("node_unavailable");
    expect(share(c, 2, "n1")?.code).toBe("node_unavailable");
    const unshared = createCluster(register("n1"), submit({ resources: { cpuCores: 1 } }));
    expect(share(unshared, 1, "n1")?.code).toBe("node_unavailable");
  });

  it("without the flag takes an idle node exclusively and never joins", () => {
    const c = cluster({ resources: { cpuCores: 1 } }, { resources: { cpuCores: 1 } });
    expect(share(c, 1, "n1")).toBeNull();
    expect(refusalIn(c.apply(placing(c, 2, ["n1"])))?.code).toBe("node_unavailable");
    expect(c.state.node(nodeId("n1"))?.claims).toMatchObject([{ exclusive: false, share: { cpuCores: 1 } }]);
  });

  it("passes the checks of hardware and time", () => {
    const c = cluster({ resources: { cpuCores: 9 } }, { resources: { cpuCores: 1 } });
    expect(share(c, 1, "n1")?.code).toBe("constraint_unmet");
    expect(refusalOfPlacing(c, 2, ["n1"], { shared: true, basis: 0 })?.code).toBe("stale_plan");
    expect(c.state.at).toBe(instant(1_000_000));
  });
});
