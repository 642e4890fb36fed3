// Images, holds, sessions, DAGs, tasks, events, grants and networks, through REST and gRPC.

import { create } from "@bufbuild/protobuf";
import { brokenExport, type Json, pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { callGrpc, callRest, restOf } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";
import { USER, useTwoApis, WORK_SERVICES } from "./two-apis.ts";

provesCalls(import.meta.url);

const apis = useTwoApis(WORK_SERVICES);
const { both, good } = apis;

describe("images", () => {
  test("the registry is listed, and caches are filled, shown and emptied", async () => {
    const listed = await good("ImageService.ListImages", create(pb.ListImagesRequestSchema, { filter: "gnu" }));
    expect(listed).toMatchObject({ node: "n1", images: [{ name: "prgenv-gnu/24.11:v1" }] });
    const image = "prgenv-gnu/24.11:v1";
    expect(await good("ImageService.InspectImage", create(pb.InspectImageRequestSchema, { image }))).toMatchObject({
      name: image,
    });
    const warmed = await good("ImageService.WarmCache", create(pb.WarmCacheRequestSchema, { image, nodes: ["n2"] }));
    expect(warmed).toMatchObject({ nodes: [{ node: "n2", error: "" }] });
    const shown = await good("ImageService.GetCache", create(pb.GetCacheRequestSchema));
    expect(shown.nodes).toHaveLength(3);
    const evicted = await good("ImageService.EvictImage", create(pb.EvictImageRequestSchema, { image, nodes: ["n1"] }));
    expect(evicted).toMatchObject({ nodes: [{ node: "n1", error: "the image is in use" }] });
  });

  test("no image, an unknown node and an unknown group are refused", async () => {
    const problems = [
      await both("ImageService.WarmCache", create(pb.WarmCacheRequestSchema)),
      await both("ImageService.GetCache", create(pb.GetCacheRequestSchema, { nodes: ["n9"] })),
      await both("ImageService.GetCache", create(pb.GetCacheRequestSchema, { group: "nowhere" })),
    ];
    expect(problems).toMatchObject(
      ["invalid_argument", "unknown_node", "invalid_argument"].map((code) => ({ problem: { code } })),
    );
  });
});

describe("holding", () => {
  const update = (change: Parameters<typeof create<typeof pb.UpdateAllocationRequestSchema>>[1]) =>
    both("AllocationService.Update", create(pb.UpdateAllocationRequestSchema, change));

  test("work is held from its submission on, released, and held again, with the reason", async () => {
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true" });
    const { id } = await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation, hold: true }));
    const got = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: String(id) }));
    expect(got).toMatchObject({
      hold: { kind: "user", by: "ada" },
      pending_reasons: ["held by user ada"],
      pending_reason_codes: ["held_by_user"],
    });
    const why = await good("AllocationService.Explain", create(pb.ExplainRequestSchema, { id: String(id) }));
    expect(why).toMatchObject({ summary: `It is held by user ada: \`lattice release ${id}\` queues it.` });
    const released = await update({ id: String(id), hold: false });
    expect(released).toMatchObject({ json: { allocation: { id } } });
    expect(JSON.stringify(released)).not.toContain("held");
    expect(await update({ id: String(id), hold: true })).toMatchObject({
      json: { allocation: { hold: { by: "ada" } } },
    });
    const pending = create(pb.ListAllocationsRequestSchema, { state: [pb.AllocationState.PENDING] });
    expect(JSON.stringify(await good("AllocationService.List", pending))).toContain(`"id":"${id}"`);
  });

  test("a group and an element without a record can be held; finished work cannot", async () => {
    const taskGroup = { start: 0, end: 999 };
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true", taskGroup });
    const { id } = await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }));
    expect(await update({ id: `${id}_[990-999]`, hold: true })).toMatchObject({ json: { allocation: { id } } });
    const far = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: `${id}_995` }));
    expect(far).toMatchObject({ state: "pending", hold: { kind: "user" }, pending_reason_codes: ["held_by_user"] });
    expect(await update({ id: String(id), hold: true })).toMatchObject({
      json: { allocation: { hold: { by: "ada" } } },
    });
    const problems = [
      await update({ id: `${id}_1000`, hold: true }),
      await update({ id: String(id), hold: true, name: "other" }),
      await update({ id: "77", hold: true }),
    ];
    const codes = ["unknown_allocation", "invalid_argument", "unknown_allocation"];
    expect(problems).toMatchObject(codes.map((code) => ({ problem: { code } })));
  });

  test("tags change one by one", async () => {
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true", tags: { a: "1", b: "2" } });
    const { id } = await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }));
    const changed = await update({ id: String(id), setTags: { b: "3", c: "4" }, removeTags: ["a", "never"] });
    expect(changed).toMatchObject({ json: { allocation: { spec: { tags: { b: "3", c: "4" } } } } });
    expect(JSON.stringify(changed)).not.toContain('"a":"1"');
    const problems = [
      await update({ id: String(id), setTags: { b: "3" }, tags: { d: "5" } }),
      await update({ id: String(id), setTags: { b: "3" }, removeTags: ["b"] }),
      await update({ id: String(id), setTags: { "": "3" } }),
    ];
    expect(problems).toMatchObject(problems.map(() => ({ problem: { code: "invalid_argument" } })));
  });
});

describe("sessions", () => {
  test("a session is created, shown, listed and ended", async () => {
    const allocation = create(pb.AllocationSpecSchema, { lifecycle: { walltimeSeconds: 600 } });
    const asked = create(pb.CreateSessionRequestSchema, { allocation });
    const created = await good("SessionService.CreateSession", asked);
    expect(created).toMatchObject({ state: "pending" });
    const id = String(created.session_id);
    const got = await good("SessionService.GetSession", create(pb.GetSessionRequestSchema, { id }));
    expect(got).toMatchObject({ id, user: "ada", owns_allocation: true, state: "pending" });
    const listed = await good("SessionService.ListSessions", create(pb.ListSessionsRequestSchema));
    expect(listed.sessions).toMatchObject([{ id }]);
    const ended = await good("SessionService.DeleteSession", create(pb.DeleteSessionRequestSchema, { id }));
    expect(ended).toMatchObject({ id, state: "cancelled" });
    const unknown = await both("SessionService.GetSession", create(pb.GetSessionRequestSchema, { id: "77.7" }));
    expect(unknown).toMatchObject({ problem: { code: "unknown_session" } });
  });
});

describe("the vCluster of a session, a DAG and a plan that name none", () => {
  const ml = create(pb.CreateVClusterRequestSchema, { id: "ml", scheduler: pb.SchedulerType.ML_TRAINING });
  const lifecycle = { walltimeSeconds: 600 };
  const session = async (fields: { intent?: string; tenant?: string }) => {
    const allocation = create(pb.AllocationSpecSchema, { lifecycle, ...fields });
    const made = await good("SessionService.CreateSession", create(pb.CreateSessionRequestSchema, { allocation }));
    const id = String(made.allocation_id);
    const got = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id }));
    return [(got.spec as { vcluster: string }).vcluster, made.warnings ?? []];
  };
  const chosen = ['vCluster "ml" was chosen for the intent "train"'];

  test("follows the intent, else an interactive vCluster that is open to the tenant", async () => {
    await good("AdminService.CreateVCluster", ml);
    for (const id of ["art", "physics"])
      await good("AdminService.CreateTenant", create(pb.CreateTenantRequestSchema, { id }));
    expect(await session({})).toEqual(["hpc-batch", []]);
    const scheduler = pb.SchedulerType.INTERACTIVE_FIFO;
    const make = (id: string, tenant: string) =>
      good("AdminService.CreateVCluster", create(pb.CreateVClusterRequestSchema, { id, tenant, scheduler }));
    await make("interactive", "physics");
    expect(await session({ tenant: "art" })).toEqual(["hpc-batch", []]);
    expect(await session({ tenant: "physics" })).toEqual(["interactive", []]);
    await make("desks", "");
    expect(await session({ tenant: "art" })).toEqual(["desks", []]);
    expect(await session({ intent: "train", tenant: "physics" })).toEqual(["ml", chosen]);
    expect((await session({ intent: "whatever", tenant: "physics" }))[0]).toBe("interactive");
  });

  test("is reported for a DAG and a plan as for a submission", async () => {
    await good("AdminService.CreateVCluster", ml);
    const members = ["a", "b"].map((name) => ({ name, entrypoint: "true", intent: "train" }));
    const dag = await good("DagService.SubmitDag", create(pb.SubmitDagRequestSchema, { allocations: members }));
    expect(dag.warnings).toEqual(chosen);
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true", intent: "train" });
    const planned = await good("AllocationService.Plan", create(pb.SubmitRequestSchema, { allocation }));
    expect(planned).toMatchObject({ vcluster: "ml", warnings: chosen });
  });
});

describe("DAGs", () => {
  test("a DAG above the limit is refused with count and limit, and nothing is submitted", async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({ name: `m${n}`, entrypoint: "true" }));
    const refused = await both("DagService.SubmitDag", create(pb.SubmitDagRequestSchema, { allocations: many }));
    expect(refused).toMatchObject({
      problem: { fields: [{ detail: "DAG exceeds maximum size (1001 allocations, limit: 1000)" }] },
    });
    expect(await good("DagService.ListDags", create(pb.ListDagsRequestSchema))).not.toHaveProperty("dags.0");
  });

  const allocations = [
    { name: "prepare", entrypoint: "true" },
    { name: "train", entrypoint: "true", dependsOn: [{ ref: "prepare", condition: "success" }] },
  ];

  test("a DAG is submitted, shown, drawn, listed and cancelled", async () => {
    const submitted = await good(
      "DagService.SubmitDag",
      create(pb.SubmitDagRequestSchema, { name: "two", allocations }),
    );
    const id = String(submitted.id);
    expect(submitted).toMatchObject({ state: "running", members: [{ name: "prepare" }, { name: "train" }] });
    expect(await good("DagService.GetDag", create(pb.GetDagRequestSchema, { id }))).toMatchObject({ id, size: 2 });
    const graph = await good("DagService.GetDagGraph", create(pb.GetDagGraphRequestSchema, { id }));
    expect(graph.edges).toMatchObject([{ condition: "success" }]);
    expect(await good("DagService.ListDags", create(pb.ListDagsRequestSchema))).toMatchObject({ dags: [{ id }] });
    const cancelled = await good("DagService.CancelDag", create(pb.CancelDagRequestSchema, { id }));
    expect(cancelled).toMatchObject({ id });
  });

  test("a cycle and an unknown DAG are refused", async () => {
    const [first, second] = allocations;
    const circle = [{ ...first, dependsOn: [{ ref: "train", condition: "any" }] }, { ...second }];
    const refused = await both("DagService.SubmitDag", create(pb.SubmitDagRequestSchema, { allocations: circle }));
    expect(refused).toMatchObject({ problem: { code: "invalid_argument" } });
    const unknown = await both("DagService.GetDag", create(pb.GetDagRequestSchema, { id: "dag-99" }));
    expect(unknown).toMatchObject({ problem: { code: "unknown_dag" } });
  });
});

describe("tasks", () => {
  test("input for a launch in an unknown allocation is refused", async () => {
    const message = create(pb.SendTaskInputRequestSchema, { allocationId: "77", launchId: "1", end: true });
    expect(await both("TaskService.SendTaskInput", message)).toMatchObject({ problem: { code: "unknown_allocation" } });
    const told = create(pb.ControlLaunchRequestSchema, { allocationId: "77", launchId: "1", end: true });
    expect(await both("TaskService.ControlLaunch", told)).toMatchObject({ problem: { code: "unknown_allocation" } });
  });
});

describe("events and notices", () => {
  test("events are listed and filtered by type", async () => {
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true" });
    await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }));
    const listed = await good("EventService.ListEvents", create(pb.ListEventsRequestSchema, { id: "1" }));
    expect(listed).toMatchObject({ id: "1", events: [{ type: "state", kind: "submitted" }] });
    const none = create(pb.ListEventsRequestSchema, { id: "1", types: ["scaling"] });
    expect((await good("EventService.ListEvents", none)).events ?? []).toEqual([]);
    const odd = create(pb.ListEventsRequestSchema, { id: "1", types: ["gossip"] });
    expect(await both("EventService.ListEvents", odd)).toMatchObject({ problem: { code: "invalid_argument" } });
    const wrong = create(pb.ListEventsRequestSchema, { id: "1", cursor: "yesterday" });
    expect(await both("EventService.ListEvents", wrong)).toMatchObject({ problem: { code: "invalid_argument" } });
    expect((await good("EventService.ListNotices", create(pb.ListNoticesRequestSchema))).notices ?? []).toEqual([]);
  });
});

describe("access", () => {
  test("roles are granted, listed and revoked, with audit records", async () => {
    const named = { tenant: "default", user: "bob", role: "claiming_user" };
    const given = await good("AccessService.AddGrant", create(pb.AddGrantRequestSchema, named));
    expect(given).toMatchObject({ grant: { ...named, granted_by: "ada" } });
    expect(await good("AccessService.ListGrants", create(pb.ListGrantsRequestSchema, { user: "bob" }))).toMatchObject({
      grants: [named],
    });
    await good("AccessService.RemoveGrant", create(pb.RemoveGrantRequestSchema, named));
    const told = await good("AccessService.QueryAudit", create(pb.QueryAuditRequestSchema, { scope: "access" }));
    const records = told.records as readonly Record<string, string>[];
    expect(records.map(({ event_type }) => event_type)).toEqual(["grant.add", "grant.remove"]);
    expect(records[0]).toMatchObject({ signature: "", key_id: "" });
    expect(brokenExport(records as unknown as Json[])).toBeNull();
    const newest = { newestFirst: true, pageSize: 1, tenant: "default" };
    const page = await good("AccessService.QueryAudit", create(pb.QueryAuditRequestSchema, newest));
    expect(page.records).toMatchObject([{ event_type: "grant.remove" }]);
    const second = { ...newest, pageToken: String(page.next_page_token) };
    expect(await good("AccessService.QueryAudit", create(pb.QueryAuditRequestSchema, second))).toMatchObject({
      records: [{ event_type: "grant.add" }],
    });
    expect(await good("AccessService.VerifyAudit", create(pb.VerifyAuditRequestSchema))).toMatchObject({ ok: true });
  });

  test("the key of job tokens is rotated if there is one", async () => {
    const rpc = "AccessService.RotateJobKey";
    const keep = (keepSeconds: number) => create(pb.RotateJobKeyRequestSchema, { keepSeconds });
    expect(await both(rpc, create(pb.RotateJobKeyRequestSchema))).toMatchObject({ problem: { code: "conflict" } });
    for (const { plane } of [apis.left, apis.right])
      plane.apply({ kind: "secret.keep", name: "jobs", value: "k".repeat(43) });
    expect(await both(rpc, keep(31 * 86_400))).toMatchObject({
      problem: { code: "invalid_argument", fields: [{ field: "keep_seconds" }] },
    });
    // Each plane creates its own random key, so their states differ from here on.
    const one = { json: { previous_keys: [{ valid_until: expect.any(String) }] } };
    expect(await callGrpc(apis.right, rpc, create(pb.RotateJobKeyRequestSchema), USER)).toMatchObject(one);
    expect(await callGrpc(apis.right, rpc, keep(0), USER)).toMatchObject({ json: { previous_keys: [] } });
    const byRest = restOf(rpc, keep(60));
    expect(await callRest(apis.left, { ...byRest, headers: { ...byRest.headers, ...USER } })).toMatchObject(one);
  });

  test("the key of the audit log is rotated, and records of both keys are verified", async () => {
    const rpc = "AccessService.RotateAuditKey";
    const rotate = (fields: object = {}) => create(pb.RotateAuditKeyRequestSchema, fields);
    expect(await both(rpc, rotate())).toMatchObject({ problem: { code: "conflict" } });
    // Each plane creates its own random keys, so their states differ from here on.
    for (const { plane } of [apis.left, apis.right]) {
      plane.apply(plane.auditKeys.firstKey());
      plane.apply(plane.auditKeys.signAll());
    }
    const told = await callGrpc(apis.right, rpc, rotate(), USER);
    expect(told).toMatchObject({
      json: { servers: 1, keys: [{ last_record: expect.any(String) }, { last_record: "" }] },
    });
    expect(await callGrpc(apis.right, rpc, rotate({ lost: true }), USER)).toMatchObject({
      problem: { code: "conflict", detail: expect.stringContaining("is not lost") },
    });
    apis.right.plane.apply(apis.right.plane.auditKeys.signAll());
    const verified = await callGrpc(apis.right, "AccessService.VerifyAudit", create(pb.VerifyAuditRequestSchema), USER);
    expect(verified).toMatchObject({ json: { ok: true, unsigned_records: 0, unendorsed_keys: [] } });
    const byRest = restOf(rpc, rotate());
    expect(await callRest(apis.left, { ...byRest, headers: { ...byRest.headers, ...USER } })).toMatchObject({
      json: { key_id: apis.left.plane.view().auditKey()?.id },
    });
  });

  test("enrolments are created, listed and removed, and bad ones are refused", async () => {
    const make = (fields: object) =>
      create(pb.CreateEnrolmentRequestSchema, { maxNodes: 3, networks: ["10.1.0.0/16"], ...fields });
    const rpc = "AccessService.CreateEnrolment";
    const bad = [
      [await both(rpc, make({ maxNodes: 0 })), "max_nodes"],
      [await both(rpc, make({ validSeconds: 0 })), "valid_seconds"],
      [await both(rpc, make({ networks: ["rack-1"] })), "networks[0]"],
      [await both(rpc, make({ networks: Array.from({ length: 17 }, () => "10.0.0.1") })), "networks"],
    ] as const;
    for (const [problem, field] of bad)
      expect(problem).toMatchObject({ problem: { code: "invalid_argument", fields: [{ field }] } });
    const gone = create(pb.RemoveEnrolmentRequestSchema, { enrolmentId: "0123456789ab" });
    expect(await both("AccessService.RemoveEnrolment", gone)).toMatchObject({ problem: { code: "unknown_enrolment" } });
    const none = await good("AccessService.ListEnrolments", create(pb.ListEnrolmentsRequestSchema));
    expect(none.enrolments ?? []).toEqual([]);
    // Each plane makes its own random token, so their answers differ.
    const ask = async <K extends Parameters<typeof callGrpc>[1]>(name: K, message: Parameters<typeof callGrpc>[2]) => {
      const answer = await callGrpc(apis.right, name, message, USER);
      return (answer as { json: Record<string, unknown> }).json;
    };
    const made = await ask(rpc, make({ requestId: "r1" }));
    expect(made.token).toMatch(/^lte_[0-9a-f]{12}_[\w-]{43}$/);
    const again = await callGrpc(apis.right, rpc, make({ requestId: "r1" }), USER);
    expect(again).toMatchObject({ problem: { code: "request_conflict" } });
    const { enrolment_id: enrolmentId } = made.enrolment as { enrolment_id: string };
    const one = {
      enrolment_id: enrolmentId,
      max_nodes: 3,
      networks: ["10.1.0.0/16"],
      created_by: "ada",
      state: "open",
    };
    const listed = await ask("AccessService.ListEnrolments", create(pb.ListEnrolmentsRequestSchema));
    expect(listed.enrolments).toMatchObject([one]);
    expect(JSON.stringify(listed)).not.toContain(String(made.token).slice(-43));
    const removed = create(pb.RemoveEnrolmentRequestSchema, { enrolmentId });
    expect(await ask("AccessService.RemoveEnrolment", removed)).toMatchObject({ enrolment: one });
    const audit = create(pb.QueryAuditRequestSchema, { scope: "access", newestFirst: true, pageSize: 2 });
    const { records } = await ask("AccessService.QueryAudit", audit);
    expect(records).toMatchObject([{ event_type: "enrolment.remove" }, { event_type: "enrolment.create" }]);
  });

  test("unknown users, tenants and roles are refused", async () => {
    const add = (fields: object) => both("AccessService.AddGrant", create(pb.AddGrantRequestSchema, fields));
    const grant = { tenant: "default", user: "bob", role: "claiming_user" };
    expect([
      await add({ ...grant, tenant: "nowhere" }),
      await add({ ...grant, user: "two words" }),
      await add({ ...grant, role: "king" }),
      await both("AccessService.RemoveGrant", create(pb.RemoveGrantRequestSchema, grant)),
      await both("AccessService.QueryAudit", create(pb.QueryAuditRequestSchema, { scope: "weather" })),
    ]).toMatchObject(
      ["unknown_tenant", "invalid_argument", "invalid_argument", "unknown_grant", "invalid_argument"].map((code) => ({
        problem: { code },
      })),
    );
  });
});

describe("network domains", () => {
  test("domains are listed with the pool, shown, and get another grace", async () => {
    const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true", connectivity: { networkDomain: "blue" } });
    await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }));
    const none = create(pb.GetDomainRequestSchema, { name: "blue" });
    expect(await both("NetworkService.GetDomain", none)).toMatchObject({ problem: { code: "unknown_domain" } });
    const grace = create(pb.SetDomainGraceRequestSchema, { name: "blue", graceSeconds: 900 });
    expect(await both("NetworkService.SetDomainGrace", grace)).toMatchObject({ problem: { code: "unknown_domain" } });
    const listed = await good("NetworkService.ListDomains", create(pb.ListDomainsRequestSchema));
    expect(listed).toMatchObject({ vni_pool_start: 1000, vni_pool_end: 4095, max_domains_per_tenant: 50 });
  });
});
