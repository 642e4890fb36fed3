// The visibility of work for its owner, a colleague, an administrator of the tenant and a user of another tenant, in
// answers that show the work of several users. access.test.ts covers the table of access rules.

import { create } from "@bufbuild/protobuf";
import {
  type Command,
  minimalSpec,
  type NodeId,
  seconds,
  type TenantId,
  type UserName,
  type VClusterId,
} from "@lattice/core";
import { pb } from "@lattice/wire";
import { beforeEach, expect, test } from "vitest";
import { reachesOnlyOwn } from "../../src/api/access/authorize.ts";
import { get, list } from "../../src/api/handlers/allocations.ts";
import { getDomain, listDomains } from "../../src/api/handlers/networks.ts";
import { listNodes } from "../../src/api/handlers/nodes.ts";
import { getQueue } from "../../src/api/handlers/queue.ts";
import { attach } from "../../src/api/handlers/terminals.ts";
import { watch } from "../../src/api/handlers/watch.ts";
import type { Principal } from "../../src/base/auth/principal.ts";
import { vcluster } from "../lead/controllers/make.ts";
import { callAs, principal } from "./call-as.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";

let plane: MemoryPlane;
const as = (who: Principal, signal?: AbortSignal) => callAs(plane, who, signal);
const ADA = principal("ada", "physics");
const BOB = principal("bob", "physics");
const CHIEF = principal("chief", "physics", "TenantAdmin");
const EVE = principal("eve", "biology");

function submit(user: string, tenant: string, more: object = {}): void {
  plane.apply({
    kind: "allocation.submit",
    origin: { user: user as UserName, requestId: null, bodyHash: "" },
    createTenant: true,
    spec: {
      ...minimalSpec({ vcluster: "hpc-batch" as never, name: `of-${user}` }),
      tenant: tenant as TenantId,
      ...more,
    },
  });
}

/** 1 of ada runs on n1; 2 of bob, 3 of eve and 4 of ada wait. */
beforeEach(() => {
  plane = memoryPlane();
  plane.addNode("n1");
  submit("ada", "physics", { networkDomain: "shared" });
  plane.start("1", ["n1"]);
  submit("bob", "physics");
  submit("eve", "biology");
  submit("ada", "physics");
});

const idsOf = async (who: Principal, user = ""): Promise<[string[], number]> => {
  const { allocations, total } = await list(as(who), create(pb.ListAllocationsRequestSchema, { user }));
  return [allocations.map(({ id }) => id), total];
};

test("a list shows and counts the caller's own work, or the tenant's work for its administrators", async () => {
  expect(await idsOf(ADA)).toEqual([["4", "1"], 2]);
  expect(await idsOf(ADA, "ada")).toEqual([["4", "1"], 2]);
  expect(await idsOf(ADA, "bob")).toEqual([[], 0]);
  expect(await idsOf(EVE)).toEqual([["3"], 1]);
  expect(await idsOf(CHIEF)).toEqual([["4", "2", "1"], 3]);
  expect(await idsOf(CHIEF, "bob")).toEqual([["2"], 1]);
  expect(await idsOf(CHIEF, "eve")).toEqual([[], 0]);
  expect((await idsOf(principal("root", "physics", "Operator")))[1]).toBe(4);
});

test("the variables of a job are shown to users who may change it, and not in lists", async () => {
  const spec = minimalSpec({ vcluster: "hpc-batch" as never });
  const variables = { AWS_SECRET_ACCESS_KEY: "k", SLURM_SUBMIT_HOST: "login" };
  submit("ada", "physics", { environment: { ...spec.environment, variables } });
  const seenBy = async (who: Principal) => (await get(as(who), { id: "5" } as never)).spec?.environment?.variables;
  expect([await seenBy(ADA), await seenBy(CHIEF)]).toEqual([variables, variables]);
  expect(await seenBy(principal("root", "physics", "Operator"))).toEqual({ SLURM_SUBMIT_HOST: "login" });
  const { allocations } = await list(as(ADA), create(pb.ListAllocationsRequestSchema, {}));
  expect(allocations[0]?.spec?.environment?.variables).toEqual({ SLURM_SUBMIT_HOST: "login" });
});

test("a grant widens the list in its tenant only", async () => {
  const granted = { ...EVE, grants: [{ tenant: "physics" as TenantId, role: "TenantAdmin" as const }] };
  expect(await idsOf(granted)).toEqual([["4", "3", "2", "1"], 4]);
  const claiming = { ...EVE, grants: [{ tenant: "physics" as TenantId, role: "ClaimingUser" as const }] };
  expect([granted, claiming].map((who) => reachesOnlyOwn(who, "AllocationService.List"))).toEqual([false, true]);
  expect(await idsOf(claiming)).toEqual([["3"], 1]);
});

test("another user's work is forbidden by its id; an unknown id is unknown", async () => {
  const code = (who: Principal, id: string) =>
    get(as(who), create(pb.GetAllocationRequestSchema, { id })).then(
      () => "ok",
      (error) => error.problem.code,
    );
  expect([await code(ADA, "1"), await code(ADA, "2"), await code(ADA, "3"), await code(ADA, "99")]).toEqual([
    "ok",
    "forbidden",
    "forbidden",
    "unknown_allocation",
  ]);
  expect(await code(CHIEF, "2")).toBe("ok");
});

test("a queue shows an id to colleagues, a position to other users, and a name to neither", async () => {
  const seen = async (who: Principal) => {
    const { entries } = await getQueue(as(who), create(pb.GetQueueRequestSchema, { id: "hpc-batch" }));
    return entries.map(({ allocationId, tenant, user, name }) => [allocationId, tenant, user, name].join(" ").trim());
  };
  expect((await seen(ADA)).sort()).toEqual(["", "2 physics", "4 physics ada of-ada"]);
  expect((await seen(CHIEF)).sort()).toEqual(["", "2 physics bob of-bob", "4 physics ada of-ada"]);
  expect((await seen(EVE)).sort()).toEqual(["", "", "3 biology eve of-eve"]);
});

test("a node is shown as in use to all, with the allocation to its tenant only", async () => {
  const seen = async (who: Principal, tenant = "") => {
    const { nodes } = await listNodes(as(who), create(pb.ListNodesRequestSchema, { tenant }));
    return nodes.flatMap(({ claims }) => claims.map(({ allocationId, tenant: of }) => [allocationId, of]));
  };
  expect([await seen(BOB), await seen(EVE)]).toEqual([[["1", "physics"]], [["", ""]]]);
  expect([await seen(BOB, "physics"), await seen(EVE, "physics")]).toEqual([[["1", "physics"]], []]);
});

test("the nodes of a tenant are its home nodes and the nodes with its work", async () => {
  const origin = { user: "root" as UserName, requestId: null, bodyHash: "" };
  const physics = "physics" as TenantId;
  plane.apply({ ...vcluster("lab"), tenant: physics, isDefault: false } as Command);
  for (const id of ["n2", "n3"]) plane.addNode(id);
  plane.apply({ kind: "node.assign", origin, node: "n2" as NodeId, vcluster: "lab" as VClusterId });
  const seen = async (tenant: string) => {
    const { nodes } = await listNodes(as(BOB), create(pb.ListNodesRequestSchema, { tenant }));
    return nodes.map(({ id, homeTenant }) => [id, homeTenant]);
  };
  const [one, two, three] = [
    ["n1", ""],
    ["n2", "physics"],
    ["n3", ""],
  ];
  expect([await seen("physics"), await seen("")]).toEqual([
    [one, two],
    [one, two, three],
  ]);
});

test("a stream has the events of the caller's own work and of its tenant", async () => {
  const admin = { user: "root" as UserName, requestId: null, bodyHash: "" };
  const physics = "physics" as TenantId;
  plane.apply({ kind: "tenant.update", origin: admin, tenant: physics, change: { description: "new" } });
  plane.apply({ kind: "grant.add", origin: admin, tenant: physics, user: BOB.user, role: "claiming_user" });
  const seen = async (who: Principal) => {
    const stop = new AbortController();
    const found: string[] = [];
    for await (const batch of watch(as(who, stop.signal), create(pb.WatchRequestSchema, { cursor: "1" }))) {
      found.push(...batch.map(({ kind, allocationId, to }) => `${kind} ${allocationId || to}`));
      stop.abort();
    }
    return [...new Set(found)].filter((text) => !/^(node|vcluster)_changed/.test(text)).sort();
  };
  const ofAda = ["allocation_changed 1", "allocation_changed 4", "tenant_changed created", "tenant_changed updated"];
  expect(await seen(ADA)).toEqual(ofAda);
  expect(await seen(BOB)).toEqual([
    "allocation_changed 2",
    "tenant_changed created",
    "tenant_changed granted",
    "tenant_changed updated",
  ]);
  expect(await seen(EVE)).toEqual(["allocation_changed 3", "tenant_changed created"]);
});

test("a private network is visible with its allocation, a shared one to the tenant", async () => {
  plane.apply({ kind: "network.set", settings: { ...plane.view().network, autoDomains: true } });
  plane.addNode("n2");
  plane.addNode("n3");
  submit("ada", "physics", { resources: { ...minimalSpec({}).resources, minNodes: 2, maxNodes: 2 } });
  plane.start("5", ["n2", "n3"]);
  const seen = async (who: Principal) =>
    (await listDomains(as(who), create(pb.ListDomainsRequestSchema))).domains.map(({ name }) => name).sort();
  expect([await seen(ADA), await seen(BOB), await seen(CHIEF), await seen(EVE)]).toEqual([
    ["alloc-5", "shared"],
    ["shared"],
    ["alloc-5", "shared"],
    [],
  ]);
  const asked = (who: Principal) => getDomain(as(who), create(pb.GetDomainRequestSchema, { name: "alloc-5" }));
  expect((await asked(ADA)).allocationIds).toEqual(["5"]);
  await expect(asked(BOB)).rejects.toMatchObject({ problem: { code: "forbidden" } });
});

test("attach is refused while work is checkpointed to be stopped, and the refusal names the condition", async () => {
  const checkpoint = { mode: "signal", auto: false, port: 0, timeout: seconds(600), maxDeferral: seconds(0) } as const;
  submit("ada", "physics", { checkpoint });
  plane.addNode("n2");
  plane.start("5", ["n2"]);
  const { lifecycle } = minimalSpec({ vcluster: "hpc-batch" as VClusterId });
  submit("ada", "physics", { lifecycle: { ...lifecycle, preemptionClass: 9 } });
  plane.apply({
    kind: "allocation.preempt",
    allocation: "6" as never,
    basis: plane.view().index,
    victims: [{ allocation: "5" as never, attempt: 1 as never }],
    nodes: ["n2" as NodeId],
  });
  expect(plane.view().allocation("5" as never)?.phase.kind).toBe("checkpointing");
  async function* asked() {
    yield create(pb.AttachRequestSchema, { message: { case: "start", value: { id: "5" } } } as never);
  }
  const detail = "Allocation 5 is being checkpointed; attach is unavailable until it is rescheduled.";
  await expect(attach(as(ADA), asked()).next()).rejects.toMatchObject({ problem: { code: "not_running", detail } });
});
