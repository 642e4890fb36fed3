// Network domains: members join by name within a tenant, VNIs are never shared, the grace restarts with each member, and
// the pool of VNIs can be exhausted.

import {
  type Allocation,
  type Command,
  duration,
  mayUseFabric,
  type NetworkSettings,
  parseGateway,
  type State,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  id,
  nodeId,
  origin,
  plan,
  register,
  submit,
  submitDag,
  tenant,
  tenantId,
  vcluster,
  verdict,
} from "./support/cluster.ts";

const set = (state: State, change: Partial<NetworkSettings>): Command => ({
  kind: "network.set",
  settings: { ...state.network, ...change },
});
const release = (key: string): Command => ({ kind: "network.release", key });
const nodes = ["n1", "n2", "n3", "n4"].map((name) => register(name));
const cluster = (...more: readonly Command[]) => createCluster(tenant("art"), tenant("physics"), ...nodes, ...more);
const vniOf = (state: State, n: number) => state.allocation(id(n))?.network?.vni;

describe("network domains", () => {
  it("are shared by name within a tenant, and never between tenants", () => {
    const c = cluster(
      submit({ domain: "blue" }),
      submit({ domain: "blue" }),
      submit({ tenant: "art", domain: "blue" }),
    );
    c.place(1, "n1");
    c.place(2, "n2");
    c.place(3, "n3");
    expect([1, 2, 3].map((n) => vniOf(c.state, n))).toEqual([1_000, 1_000, 1_001]);
    expect([...c.state.domains()].map(({ key, members }) => `${key} ${members}`)).toEqual([
      "physics/blue 2",
      "art/blue 1",
    ]);
  });

  it("outlive their last member by the grace, which restarts with each new member", () => {
    const c = cluster(submit({ domain: "blue" }), submit({ domain: "blue" }));
    c.place(1, "n1");
    c.apply(cancel(1));
    c.advance(299_000);
    expect(verdict(c.one(release("physics/blue")))).toBe("stale_report");
    c.place(2, "n2");
    c.apply(cancel(2));
    c.advance(299_000);
    expect(verdict(c.one(release("physics/blue")))).toBe("stale_report");
    c.advance(1_000);
    expect(verdict(c.one(release("physics/blue"))), "its nodes have not confirmed").toBe("stale_report");
    c.report(1, "n1", "failed", "stopped");
    c.report(2, "n2", "failed", "stopped");
    expect(verdict(c.one(release("physics/blue")))).toBe("accepted");
    expect(verdict(c.one(release("physics/blue")))).toBe("repeated");
    expect([...c.state.domains()]).toEqual([]);
  });

  it("have their own grace where an administrator set one", () => {
    const c = cluster(submit({ domain: "blue" }));
    const grace = (name: string, ms: number): Command => ({
      kind: "network.grace",
      origin: origin(),
      tenant: tenantId("physics"),
      name,
      grace: duration(ms),
    });
    expect(verdict(c.one(grace("blue", 900_000)))).toBe("unknown_domain");
    c.place(1, "n1");
    expect(verdict(c.one(grace("blue", 900_000)))).toBe("accepted");
    expect(verdict(c.one(grace("blue", -1)))).toBe("invalid_argument");
    c.apply(cancel(1));
    c.advance(300_000);
    expect(verdict(c.one(release("physics/blue")))).toBe("stale_report");
  });

  it("are private for several nodes and for exposed ports where that is set, and end at once", () => {
    const c = cluster();
    c.apply(set(c.state, { autoDomains: true }), submit({ nodes: 2 }), submit());
    c.place(1, "n1", "n2");
    c.place(2, "n3");
    expect([...c.state.domains()].map(({ name, private: own }) => `${name} ${own}`)).toEqual(["alloc-1 true"]);
    expect(vniOf(c.state, 2)).toBeUndefined();
    c.apply(cancel(1));
    // Its processes have yet to end: the next domain with its number would meet them.
    expect([...c.state.domains()].map(({ members }) => members)).toEqual([0]);
    expect(verdict(c.one(release("physics/alloc-1")))).toBe("stale_report");
    for (const node of ["n1", "n2"]) c.report(1, node, "failed", "stopped");
    expect(verdict(c.one(release("physics/alloc-1")))).toBe("accepted");
    expect([...c.state.domains()]).toEqual([]);
  });

  it("are private by the number of placed nodes, not of requested nodes", () => {
    const c = cluster();
    c.apply(set(c.state, { autoDomains: true }), submit({ nodes: [1, 3] }), submit({ nodes: [1, 3] }));
    c.place(1, "n1", "n2", "n3");
    c.place(2, "n4");
    expect([...c.state.domains()].map(({ name, private: own }) => `${name} ${own}`)).toEqual(["alloc-1 true"]);
    expect([1, 2].map((n) => vniOf(c.state, n))).toEqual([1_000, undefined]);
  });

  it("of sensitive work are private, restricted to the data gateway, and cannot be named", () => {
    const c = cluster(vcluster("clinic", { scheduler: "sensitive_reservation" }));
    c.apply(set(c.state, { dataGateway: "10.1.2.3:443" }));
    expect(verdict(c.one(submit({ vcluster: "clinic", domain: "blue" })))).toBe("invalid_argument");
    expect(verdict(c.one(submit({ domain: "sensitive-7" })))).toBe("invalid_argument");
    expect(verdict(c.one(set(c.state, { dataGateway: "gateway:443" })))).toBe("invalid_argument");
    c.apply(submit({ vcluster: "clinic" }), submit({ vcluster: "clinic" }));
    c.apply(plan(c.state, 1, ["n1"], "clinic"));
    c.apply(plan(c.state, 2, ["n2"], "clinic"));
    const shown = [...c.state.domains()].map(({ name, private: own, sensitive }) => `${name} ${own} ${sensitive}`);
    expect(shown).toEqual(["sensitive-ada-1 true true", "sensitive-ada-2 true true"]);
    expect(c.state.allocation(id(1))?.network).toEqual({
      domain: "sensitive-ada-1",
      vni: 1_000,
      sensitive: true,
      gateway: "10.1.2.3:443",
    });
  });

  it("wait for the managed fabric, open when it confirms, and last until it has removed them", () => {
    const c = cluster();
    c.apply(set(c.state, { managed: true, grace: duration(0) }), submit({ domain: "blue" }));
    c.place(1, "n1");
    const may = () => mayUseFabric(c.state, c.state.allocation(id(1)) as Allocation, nodeId("n1"));
    expect(may()).toBe(false);
    const fabric = (nodes: readonly string[], problem = ""): Command => ({
      kind: "network.fabric",
      key: "physics/blue",
      vni: 1_000,
      nodes: nodes.map((name) => nodeId(name)),
      problem,
    });
    c.apply(fabric([], "it cannot be reached"));
    expect([...c.state.notices()].map(({ kind }) => kind)).toEqual(["fabric_unavailable"]);
    expect(JSON.stringify(c.state.allocation(id(1))?.past)).toContain("waits for the fabric manager");
    const { effects } = c.apply(fabric(["n1"]));
    expect(effects).toMatchObject([{ kind: "run", node: "n1", allocation: "1" }]);
    expect(may()).toBe(true);
    expect([...c.state.notices()][0]?.clearedAt).toBeDefined();
    expect(verdict(c.one(fabric(["n1"])))).toBe("repeated");
    expect(verdict(c.one({ ...fabric([]), vni: 1_001 } as Command))).toBe("stale_report");

    c.apply(cancel(1));
    c.report(1, "n1", "failed", "stopped");
    expect(verdict(c.one(release("physics/blue")))).toBe("stale_report");
    c.apply(fabric([]));
    expect(verdict(c.one(release("physics/blue")))).toBe("accepted");
  });

  it("can be exhausted: a submission is refused, a DAG's member waits, and existing members stay", () => {
    const c = cluster();
    c.apply(set(c.state, { vniEnd: 1_000, grace: duration(0) }), submit({ domain: "blue" }));
    c.place(1, "n1");
    expect(c.one(submit({ domain: "green" }))).toMatchObject({
      refusal: { code: "quota_exceeded", detail: /VNI pool exhausted \(1\/1 in use\)/ },
    });
    expect(verdict(c.one(submit({ domain: "blue" })))).toBe("accepted");
    expect(verdict(c.one(submit()))).toBe("accepted");
    c.apply(submitDag({ first: { domain: "green" } }));
    const member = [...c.state.allocations()].find(({ dag }) => dag !== undefined)?.id ?? id(0);
    c.place(member, "n2");
    expect(c.phase(member)).toBe("pending");
    expect([...c.state.held()].map((record) => record.id)).toEqual([member]);
    expect([...c.state.notices()].map(({ kind }) => kind)).toEqual(["vni_pool_exhausted"]);
    c.apply(cancel(1));
    c.report(1, "n1", "failed", "stopped");
    c.apply(release("physics/blue"));
    c.advance(5_000);
    c.apply({ kind: "allocation.end_backoff", allocation: member });
    c.place(member, "n2");
    expect(c.phase(member)).toBe("staging");
    expect([...c.state.notices()][0]?.clearedAt).toBeDefined();
  });

  it("stay exhausted when a VNI outside the pool is released", () => {
    const c = cluster(submit({ domain: "blue" }), submit({ domain: "green" }));
    c.place(1, "n1");
    c.apply(set(c.state, { vniStart: 2_000, vniEnd: 2_000, grace: duration(0) }));
    c.place(2, "n2");
    c.apply(submitDag({ first: { domain: "red" } }));
    const member = [...c.state.allocations()].find(({ dag }) => dag !== undefined)?.id ?? id(0);
    c.place(member, "n3");
    const lasting = () => [...c.state.notices()].filter(({ clearedAt }) => clearedAt === undefined).length;
    expect(lasting()).toBe(1);
    c.apply(cancel(1));
    c.report(1, "n1", "failed", "stopped");
    c.advance(300_000);
    expect(verdict(c.one(release("physics/blue")))).toBe("accepted");
    expect(lasting()).toBe(1);
  });

  it("with a name are limited per tenant", () => {
    const c = cluster();
    c.apply(set(c.state, { maxDomainsPerTenant: 1 }), submit({ domain: "blue" }));
    c.place(1, "n1");
    expect(verdict(c.one(submit({ domain: "green" })))).toBe("quota_exceeded");
    expect(verdict(c.one(submit({ tenant: "art", domain: "green" })))).toBe("accepted");
    expect(verdict(c.one(submit({ domain: "alloc-7" })))).toBe("invalid_argument");
    const quota = (maxNetworkDomains: number | null): Command => ({
      kind: "tenant.update",
      origin: origin(),
      tenant: tenantId("physics"),
      change: { quota: { maxNetworkDomains } },
    });
    expect(verdict(c.one(quota(2)))).toBe("accepted");
    expect(verdict(c.one(submit({ domain: "green" })))).toBe("accepted");
    expect(verdict(c.one(quota(-1)))).toBe("invalid_argument");
    expect(verdict(c.one(quota(null)))).toBe("accepted");
    expect(verdict(c.one(submit({ domain: "red" })))).toBe("quota_exceeded");
  });

  it("keep their VNIs when the pool changes", () => {
    const c = cluster(submit({ domain: "blue" }));
    c.place(1, "n1");
    expect(verdict(c.one(set(c.state, { vniStart: 999 })))).toBe("invalid_argument");
    c.apply(set(c.state, { vniStart: 2_000, vniEnd: 2_001 }));
    expect(vniOf(c.state, 1)).toBe(1_000);
  });
});

describe("the data gateway", () => {
  it.each([
    ["10.1.2.3:443", 4],
    ["[fd00::3]:443", 6],
    ["[::1]:65535", 6],
    ["[1:2:3:4:5:6:7:8]:1", 6],
  ])("can be %s", (text, family) => expect(parseGateway(text)?.family).toBe(family));

  it.each([
    "gateway:443",
    "10.1.2.3",
    "10.1.2.256:443",
    "10.1.2.3:0",
    "10.1.2.3:65536",
    "fd00::3:443",
    "[fd00::3]",
    "[1::2::3]:1",
    "[1:2:3:4:5:6:7]:1",
    "[1:2:3:4:5:6:7:8:9]:1",
    "[12345::]:1",
    "[fe80::1%eth0]:1",
    "[::1]:1; reboot",
  ])("cannot be %s", (text) => expect(parseGateway(text)).toBeNull());
});
