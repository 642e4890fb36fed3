// Questions about the state that the scheduler, the API and `apply` share: lending, preemption, sensitive work, the
// service registry, reasons for waiting, and what a restore would destroy.

import {
  type Allocation,
  borrowRefusal,
  type Command,
  DEFAULT_LENDING,
  duration,
  freeVni,
  isBorrower,
  type Lending,
  lendableNodes,
  nodesStillInDomains,
  preemptionProtection,
  serviceEndpoints,
  waitReasons,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { clusterContent } from "../../src/queries/cluster-content.ts";
import { claimingClass, reasonFor } from "../../src/queries/preemption.ts";
import { unfinished } from "../../src/queries/unfinished.ts";
import {
  type Cluster,
  cancel,
  createCluster,
  grant,
  hold,
  id,
  nodeId,
  register,
  type SpecChange,
  setConfig,
  spec,
  submit,
  submitGroup,
  tenant,
  vcluster,
  vclusterId,
} from "../support/cluster.ts";
import { phaseBuilders } from "../support/phases.ts";
import { placing } from "../support/placing.ts";

const lends = (change: Partial<Lending> = {}): Command =>
  vcluster("ml", { lending: { ...DEFAULT_LENDING, maxDuration: duration(60_000), ...change } });
const home = (name: string): Command => register(name, { homeVCluster: vclusterId("ml") });
const record = (c: Cluster, n: number | string): Allocation => {
  const found = c.state.allocation(id(n));
  if (found === undefined) throw new Error(`there is no allocation ${n}`);
  return found;
};
const SHORT = { walltime: duration(60_000), preemptionClass: 4 } as const;

describe("borrowing", () => {
  const refusal = (change: SpecChange["lifecycle"], c = createCluster(lends())): string | null =>
    borrowRefusal(c.state, spec({ lifecycle: { ...SHORT, ...change } }), vclusterId("ml"));

  it("is allowed up to the lender's class and duration", () => {
    expect(refusal({})).toBeNull();
    expect(refusal({ preemptionClass: 0, walltime: duration(1) })).toBeNull();
  });

  it.each<[SpecChange["lifecycle"], string]>([
    [{ preemptionClass: 5 }, 'vCluster "ml" lends to class 4 and below'],
    [{ walltime: duration(60_001) }, 'vCluster "ml" lends for at most 60 s'],
    [{ kind: "unbounded", walltime: null }, 'vCluster "ml" lends for at most 60 s'],
    [{ noPreempt: true }, "work that cannot be stopped borrows no nodes"],
    [{ preemptionClass: 7 }, "work that cannot be stopped borrows no nodes"],
  ])("is refused to work with %j: %s", (change, text) => {
    expect(refusal(change)).toBe(text);
  });

  it("is refused where the lender lends nothing, or the borrower borrows nothing", () => {
    expect(refusal({}, createCluster(vcluster("ml")))).toBe('vCluster "ml" lends no nodes');
    expect(refusal({}, createCluster())).toBe('vCluster "ml" lends no nodes');
    const proud = createCluster(lends(), vcluster("proud", { borrows: false }));
    expect(borrowRefusal(proud.state, spec({ vcluster: "proud" }), vclusterId("ml"))).toBe(
      'vCluster "proud" borrows no nodes',
    );
  });

  it("is limited to the home nodes, less the reserve and the nodes already lent", () => {
    const c = createCluster(lends({ keepNodes: 1 }), home("n1"), home("n2"), home("n3"), register("n4"));
    expect(lendableNodes(c.state, vclusterId("ml"))).toBe(2);
    c.apply(submit({ lifecycle: SHORT }));
    c.apply(placing(c, 1, ["n1"]));
    expect([c.phase(1), lendableNodes(c.state, vclusterId("ml"))]).toEqual(["staging", 1]);
    expect(isBorrower(c.state, record(c, 1), null)).toBe(true);
    expect(isBorrower(c.state, record(c, 1), vclusterId("ml"))).toBe(true);
    expect(isBorrower(c.state, record(c, 1), vclusterId("batch"))).toBe(false);
    expect(lendableNodes(c.state, vclusterId("batch"))).toBe(0);
    expect(lendableNodes(createCluster(lends({ keepNodes: 5 }), home("n1")).state, vclusterId("ml"))).toBe(0);
  });
});

describe("running work", () => {
  it.each<[string | null, SpecChange, readonly Command[]]>([
    [null, {}, []],
    [null, { lifecycle: { preemptionClass: 9 } }, []],
    ["allocation 1 has the highest class", { lifecycle: { preemptionClass: 10 } }, []],
    ["allocation 1 asked not to be stopped", { lifecycle: { noPreempt: true } }, []],
    ["allocation 1 is sensitive", { vcluster: "safe" }, [vcluster("safe", { scheduler: "sensitive_reservation" })]],
    ['vCluster "quiet" shields allocation 1', { vcluster: "quiet" }, [vcluster("quiet", { preemptible: "never" })]],
    [
      'vCluster "packed" shields allocation 1',
      { vcluster: "packed" },
      [vcluster("packed", { scheduler: "service_bin_pack" })],
    ],
  ])("is protected by %j", (text, change, setUp) => {
    const c = createCluster(register("n1"), ...setUp);
    c.apply(submit(change));
    c.apply(placing(c, 1, ["n1"]));
    expect(c.phase(1)).toBe("staging");
    expect(preemptionProtection(c.state, record(c, 1))).toBe(text);
  });

  it("that borrows may be stopped even where its vCluster shields its own", () => {
    const c = createCluster(vcluster("packed", { scheduler: "service_bin_pack" }), lends(), home("n2"));
    c.apply(submit({ vcluster: "packed", lifecycle: SHORT }), submit({ vcluster: "ml" }));
    c.apply(placing(c, 1, ["n2"]));
    expect(preemptionProtection(c.state, record(c, 1))).toBeNull();
    expect(reasonFor(c.state, record(c, 2), record(c, 1))).toBe("reclaim");
  });

  it("is stopped for sensitive work with the highest class", () => {
    const c = createCluster(register("n1"), vcluster("safe", { scheduler: "sensitive_reservation" }));
    c.apply(submit(), submit({ vcluster: "safe", lifecycle: { preemptionClass: 0 } }), submit());
    expect([claimingClass(c.state, record(c, 1)), claimingClass(c.state, record(c, 2))]).toEqual([5, 10]);
    expect(reasonFor(c.state, record(c, 2), record(c, 1))).toBe("sensitive");
    expect(reasonFor(c.state, record(c, 3), record(c, 1))).toBe("priority");
  });
});

describe("the service registry", () => {
  const service = (name: string): Command => ({
    kind: "allocation.submit",
    origin: { user: "ada" as never, requestId: null, bodyHash: "" },
    createTenant: true,
    spec: {
      ...spec({ nodes: 2, lifecycle: { kind: "unbounded", walltime: null } }),
      name,
      expose: [
        { name: "web", port: 80, protocol: "http" },
        { name: "", port: 81 },
      ],
    },
  });
  const texts = (c: Cluster): readonly string[] =>
    [...serviceEndpoints(c.state)].map(
      ({ name, node, address, port, protocol }) => `${name} ${node} ${address}:${port} ${protocol ?? "-"}`,
    );

  it("has each port of each node that runs, and no other", () => {
    const c = createCluster(register("n1", { address: "10.0.0.1" }), register("n2", { address: "10.0.0.2" }));
    c.apply(service("shop"));
    expect(texts(c)).toEqual([]);
    c.place(1, "n1", "n2");
    expect(texts(c)).toEqual([]);
    c.report(1, "n1", "running");
    expect(texts(c)).toEqual([]);
    c.report(1, "n2", "running");
    expect(texts(c)).toEqual([
      "web n1 10.0.0.1:80 http",
      "shop n1 10.0.0.1:81 -",
      "web n2 10.0.0.2:80 http",
      "shop n2 10.0.0.2:81 -",
    ]);
    c.report(1, "n1", "completed");
    expect(texts(c)).toEqual(["web n2 10.0.0.2:80 http", "shop n2 10.0.0.2:81 -"]);
    c.apply(cancel(1));
    expect(texts(c)).toEqual([]);
  });

  it("names a port after the allocation, and without a name after what it is", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(service(""));
    c.place(1, "n1", "n2");
    c.report(1, "n1", "running");
    c.report(1, "n2", "running");
    expect(texts(c)[1]).toContain("service n1");
  });
});

describe("the reasons why work waits", () => {
  const texts = (c: Cluster, n: number | string = 1): readonly string[] => {
    const waiter = c.state.allocation(id(n)) ?? c.state.group(id(n));
    if (waiter === undefined) throw new Error(`there is no allocation ${n}`);
    return waitReasons(c.state, waiter).map(({ code, text }) => `${code}: ${text}`);
  };

  it("are none for work that waits for nodes", () => {
    expect(texts(phaseBuilders.pending())).toEqual([]);
  });

  it("name the holder of a mutex and the user of a hold", () => {
    expect(texts(phaseBuilders.blocked())).toEqual(["dependency: waits for the mutex lock, which 2 holds"]);
    const c = phaseBuilders.held();
    expect(texts(c)).toEqual(["held_by_user: held by user ada"]);
    c.apply(hold(1, true, "root"));
    expect(texts(c)).toEqual(["held_by_admin: held by administrator root"]);
  });

  it("count down the backoff", () => {
    const c = phaseBuilders.backoff();
    expect(texts(c)).toEqual(["dependency: has failed before: it restarts in 1 s at the latest"]);
    c.advance(60_000);
    c.apply();
    expect(texts(c)).toEqual(["dependency: has failed before: it restarts in 1 s at the latest"]);
  });

  it("name dependencies by their condition, with failures as alternatives", () => {
    const c = createCluster();
    c.apply(submit(), submit(), submit());
    c.apply(submit({ after: ["1:success", "2:any", "3:failure", "1:failure", "free:mutex"] }));
    expect(texts(c, 4)).toEqual([
      "dependency: waits until 1 has completed",
      "dependency: waits until 2 has ended",
      "dependency: waits for the mutex free",
      "dependency: waits until 3 or 1 has failed",
    ]);
  });

  it("exist for a whole group", () => {
    const c = createCluster();
    c.apply(submit(), submitGroup([0, 3], 1, { after: ["1:success"] }));
    c.apply(hold(2));
    expect(texts(c, 2)).toEqual(["held_by_user: held by user ada", "dependency: waits until 1 has completed"]);
  });
});

describe("unfinished work", () => {
  it("is everything that has not ended, groups and their elements included", () => {
    const c = createCluster(submit(), submit(), submitGroup([0, 9], 2));
    expect(unfinished(c.state, () => true)).toBe(5);
    c.apply(cancel(1));
    expect(unfinished(c.state, () => true)).toBe(4);
    expect(unfinished(c.state, (work) => work.id === id(2))).toBe(1);
    c.apply(cancel(3), cancel(2));
    expect(unfinished(c.state, () => true)).toBe(0);
  });
});

describe("the content of a cluster", () => {
  it.each<[string, Command]>([
    ["allocations have been submitted to it", submit()],
    ["1 nodes have registered with it", register("n1")],
    ["its setting a.b was changed", setConfig("a.b", "1")],
    ['it has the tenant "physics"', tenant("physics")],
  ])("is everything that a restore would destroy: %s", (text, command) => {
    const c = createCluster();
    expect(clusterContent(c.state)).toBeNull();
    c.apply(command);
    expect(clusterContent(c.state)).toBe(text);
  });

  it("includes grants and later vClusters, not the ones that it began with", () => {
    const granted = createCluster(tenant("default"));
    expect(clusterContent(granted.state)).toBeNull();
    granted.apply(grant("grant.add", "default", "bob"));
    expect(clusterContent(granted.state)).toBe("bob has a role in it");
    const grown = createCluster(tenant("default"), vcluster("first"));
    expect(clusterContent(grown.state)).toBeNull();
    grown.advance(1);
    grown.apply(vcluster("later"));
    expect(clusterContent(grown.state)).toBe('it has the vCluster "later"');
  });
});

describe("a network domain", () => {
  it("lingers on the nodes that have yet to confirm the end of its members", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(submit({ nodes: 2, domain: "blue" }));
    c.place(1, "n1", "n2");
    expect(nodesStillInDomains(c.state)).toEqual(new Map());
    c.apply(cancel(1));
    expect(nodesStillInDomains(c.state)).toEqual(new Map([["physics/blue", new Set(["n1", "n2"])]]));
    c.report(1, "n1", "failed", "stopped");
    expect(nodesStillInDomains(c.state)).toEqual(new Map([["physics/blue", new Set([nodeId("n2")])]]));
    c.report(1, "n2", "failed", "stopped");
    expect(nodesStillInDomains(c.state)).toEqual(new Map());
  });

  it("takes the lowest free number", () => {
    const domain = (vni: number) => ({ vni }) as never;
    const view = (...used: readonly number[]) =>
      ({ network: { vniStart: 10, vniEnd: 12 }, domains: () => used.map(domain) }) as never;
    expect([freeVni(view()), freeVni(view(10)), freeVni(view(11, 10)), freeVni(view(12, 10, 11))]).toEqual([
      10,
      11,
      12,
      null,
    ]);
  });
});
