// Every unary RPC over REST and gRPC: the same request gives the same answer. Each interface has its own plane in the
// same state, so that even ids and log indexes must agree.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { SERVICES } from "../../src/api/call/rpc.ts";
import { callGrpc, callHttp, callRest } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";
import { OPERATE_RPCS, PLAIN_SERVICES, useTwoApis, WORK_SERVICES } from "./two-apis.ts";

provesCalls(import.meta.url);

const apis = useTwoApis(PLAIN_SERVICES, (rpc) => !OPERATE_RPCS.has(rpc));
const { both, good } = apis;

type SpecInit = Extract<MessageInitShape<typeof pb.AllocationSpecSchema>, { $typeName?: never }>;

const submission = (fields: SpecInit = {}, requestId = "") =>
  create(pb.SubmitRequestSchema, {
    allocation: create(pb.AllocationSpecSchema, { entrypoint: "hostname", name: "hello", ...fields }),
    requestId,
  });

describe("allocations", () => {
  test("submit, get, update, cancel", async () => {
    const submitted = await good("AllocationService.Submit", submission());
    expect(submitted).toMatchObject({ id: "1", state: "pending", warnings: [] });
    const got = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: "1" }));
    expect(got).toMatchObject({
      id: "1",
      user: "ada",
      state: "pending",
      spec: { tenant: "default", vcluster: "hpc-batch", name: "hello", lifecycle: { walltime_seconds: 3600 } },
      pending_reasons: ["1 of 1 matching nodes is busy"],
    });
    expect(got.estimated_start).toBeDefined();
    const updated = await good(
      "AllocationService.Update",
      create(pb.UpdateAllocationRequestSchema, { id: "1", walltimeSeconds: 60, name: "other", tags: { a: "b" } }),
    );
    expect(updated).toMatchObject({
      allocation: { spec: { name: "other", tags: { a: "b" }, lifecycle: { walltime_seconds: 60 } } },
    });
    const cancelled = await good("AllocationService.Cancel", create(pb.CancelRequestSchema, { id: "1", reason: "no" }));
    expect(cancelled).toMatchObject({ id: "1", state: "cancelled" });
    const after = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: "1" }));
    expect(after).toMatchObject({ state: "cancelled", reason: "no" });
  });

  test("the same request id gets the same answer; another body is a conflict", async () => {
    const first = await good("AllocationService.Submit", submission({ tags: { a: "1", b: "2" } }, "r-1"));
    const again = await good("AllocationService.Submit", submission({ tags: { b: "2", a: "1" } }, "r-1"));
    expect(again.id).toBe(first.id);
    const other = await both("AllocationService.Submit", submission({ name: "another" }, "r-1"));
    expect(other).toMatchObject({ problem: { code: "request_conflict", status: 409 } });
  });

  test("list filters and pages, newest first", async () => {
    for (const name of ["a", "b", "a", "c", "a"]) await good("AllocationService.Submit", submission({ name }));
    for (const { plane } of [apis.left, apis.right]) {
      plane.start("2", ["n1"]);
      plane.start("3", ["n2"]);
      plane.finish("3", 0);
    }
    const list = (fields: MessageInitShape<typeof pb.ListAllocationsRequestSchema>) =>
      good("AllocationService.List", create(pb.ListAllocationsRequestSchema, fields));
    const ids = (answer: Record<string, unknown>) => (answer.allocations as { id: string }[]).map((a) => a.id);
    expect(ids(await list({}))).toEqual(["5", "4", "3", "2", "1"]);
    expect(ids(await list({ name: "a" }))).toEqual(["5", "3", "1"]);
    expect(ids(await list({ state: [pb.AllocationState.PENDING] }))).toEqual(["5", "4", "1"]);
    expect(ids(await list({ state: [pb.AllocationState.RUNNING, pb.AllocationState.PENDING] }))).toEqual([
      "5",
      "4",
      "2",
      "1",
    ]);
    expect(ids(await list({ node: "n1" }))).toEqual(["2"]);
    expect(ids(await list({ user: "nobody" }))).toEqual([]);
    const first = await list({ pageSize: 2 });
    expect(ids(first)).toEqual(["5", "4"]);
    expect(first.total).toBe(5);
    const second = await list({ pageSize: 2, pageToken: String(first.next_page_token) });
    expect(ids(second)).toEqual(["3", "2"]);
    const third = await list({ pageSize: 2, pageToken: String(second.next_page_token) });
    expect(ids(third)).toEqual(["1"]);
    expect(third.next_page_token).toBe("");
  });

  test("an unknown tenant is created on first use", async () => {
    await good("AllocationService.Submit", submission({ tenant: "new-team" }));
    const tenant = await good("AdminService.GetTenant", create(pb.GetTenantRequestSchema, { id: "new-team" }));
    expect(tenant).toMatchObject({ id: "new-team", automatic: true });
  });

  test("without automatic tenants a mistyped one is refused with the nearest name", async () => {
    await good("AdminService.CreateTenant", create(pb.CreateTenantRequestSchema, { id: "physics" }));
    const off = create(pb.SetConfigRequestSchema, { key: "api.auto_create_tenants", value: "false" });
    await good("AdminService.SetConfig", off);
    const refused = await both("AllocationService.Submit", submission({ tenant: "phisics" }));
    const detail = 'there is no tenant "phisics"; did you mean "physics"?';
    expect(refused).toMatchObject({ problem: { code: "unknown_tenant", detail } });
    await good("AllocationService.Submit", submission());
  });
});

describe("explanations", () => {
  test("explain, plan and timeline", async () => {
    await good("AllocationService.Submit", submission({ resources: { nodes: { min: 5, max: 5 } } }));
    const why = await good("AllocationService.Explain", create(pb.ExplainRequestSchema, { id: "1" }));
    expect(why).toMatchObject({ id: "1", state: "pending", nodes: { total: 3, needed: 5, matching: 3, free: 3 } });
    const planned = await good("AllocationService.Plan", submission({ resources: { nodes: { min: 2, max: 2 } } }));
    expect(planned).toMatchObject({ starts_now: true, nodes: ["n1", "n2"], vcluster: "hpc-batch" });
    const timeline = await good("AllocationService.GetTimeline", create(pb.TimelineRequestSchema, { id: "1" }));
    expect(timeline).toMatchObject({ entries: [{ kind: "submitted" }] });
  });

  test("checkpoints are requested of running work that supports them, and only suspended work is resumed", async () => {
    await good("AllocationService.Submit", submission({ checkpoint: { strategy: "signal" } }));
    await good("AllocationService.Submit", submission());
    for (const id of ["1", "2"]) {
      const asked = await both("AllocationService.RequestCheckpoint", create(pb.CheckpointRequestSchema, { id }));
      expect(asked).toMatchObject({ problem: { code: "illegal_transition" } });
    }
    const seen = await good("AllocationService.GetCheckpoint", create(pb.GetCheckpointRequestSchema, { id: "1" }));
    expect(seen).toMatchObject({ id: "1", mode: "signal" });
    expect(await both("AllocationService.Resume", create(pb.ResumeRequestSchema, { id: "1" }))).toMatchObject({
      problem: { code: "illegal_transition", detail: "allocation 1 is pending, not suspended" },
    });
    expect(await both("AllocationService.Resume", create(pb.ResumeRequestSchema, { id: "99" }))).toMatchObject({
      problem: { code: "unknown_allocation" },
    });
  });

  test("signals are kept until they are replaced", async () => {
    const set = create(pb.SetSignalsRequestSchema, { signals: { energyPrice: 0.7, congestion: { g0: 0.5 } } });
    expect(await good("AdminService.SetSignals", set)).toMatchObject({ energy_price: 0.7 });
    expect(await good("AdminService.GetSignals", create(pb.GetSignalsRequestSchema))).toMatchObject({
      energy_price: 0.7,
      congestion: { g0: 0.5 },
    });
  });
});

describe("nodes", () => {
  const id = { id: "n1" };
  test("list, get, drain, undrain, disable, enable", async () => {
    const listed = await good("NodeService.ListNodes", create(pb.ListNodesRequestSchema, { pageSize: 2 }));
    expect((listed.nodes as { id: string }[]).map((n) => n.id)).toEqual(["n1", "n2"]);
    expect(listed.total).toBe(3);
    const rest = await good(
      "NodeService.ListNodes",
      create(pb.ListNodesRequestSchema, { pageSize: 2, pageToken: String(listed.next_page_token) }),
    );
    expect((rest.nodes as { id: string }[]).map((n) => n.id)).toEqual(["n3"]);
    const got = await good("NodeService.GetNode", create(pb.GetNodeRequestSchema, id));
    expect(got).toMatchObject({ id: "n1", state: "ready", connected: true, capabilities: { cpu_cores: 8 } });
    const drained = await good("NodeService.DrainNode", create(pb.DrainNodeRequestSchema, { ...id, reason: "disk" }));
    expect(drained).toMatchObject({ node: { state: "drained", reason: "disk" } });
    expect(await good("NodeService.UndrainNode", create(pb.NodeActionRequestSchema, id))).toMatchObject({
      node: { state: "ready" },
    });
    expect(await both("NodeService.UndrainNode", create(pb.NodeActionRequestSchema, id))).toMatchObject({
      problem: { code: "illegal_transition", status: 409 },
    });
    const disabled = await good("NodeService.DisableNode", create(pb.DisableNodeRequestSchema, { ...id, reason: "x" }));
    expect(disabled).toMatchObject({ node: { state: "down", cause: "disabled" } });
    expect(await good("NodeService.EnableNode", create(pb.NodeActionRequestSchema, id))).toMatchObject({
      node: { state: "ready" },
    });
    const assign = (vcluster: string) =>
      both("NodeService.AssignNode", create(pb.AssignNodeRequestSchema, { ...id, vcluster }));
    const home = [...apis.left.plane.view().vclusters()][0]?.id ?? "";
    expect(await assign(home)).toMatchObject({ json: { node: { home_vcluster: home } } });
    expect(await assign("nowhere")).toMatchObject({ problem: { code: "unknown_vcluster" } });
    expect(await assign("")).toMatchObject({ json: { node: { home_vcluster: "" } } });
    const health = (status: string) =>
      both("NodeService.ReportHealth", create(pb.ReportHealthRequestSchema, { ...id, status, component: "psu" }));
    expect(await health("critical")).toMatchObject({ json: { node: { state: "down", cause: "hardware" } } });
    expect(await health("warning")).toMatchObject({ json: { node: { state: "down" } } });
    expect(await health("ok")).toMatchObject({ json: { node: { state: "ready" } } });
    expect(await health("poorly")).toMatchObject({ problem: { code: "invalid_argument" } });
    const nobody = create(pb.GetNodeConditionRequestSchema, { id: "n9" });
    expect(await both("NodeService.GetNodeCondition", nobody)).toMatchObject({ problem: { status: 404 } });
    const ready = await good(
      "NodeService.ListNodes",
      create(pb.ListNodesRequestSchema, { state: [pb.NodeState.DOWN], group: "g0", vcluster: "hpc-batch" }),
    );
    expect(ready.total).toBe(0);
  });
});

describe("administration", () => {
  test("tenants", async () => {
    const made = await good(
      "AdminService.CreateTenant",
      create(pb.CreateTenantRequestSchema, {
        id: "physics",
        description: "d",
        quota: { maxNodes: 2, fairShareTarget: 0.5 },
      }),
    );
    expect(made).toMatchObject({ tenant: { id: "physics", quota: { max_nodes: 2, fair_share_target: 0.5 } } });
    expect(
      await both("AdminService.CreateTenant", create(pb.CreateTenantRequestSchema, { id: "physics" })),
    ).toMatchObject({
      problem: { code: "already_exists", status: 409 },
    });
    const changed = await good(
      "AdminService.UpdateTenant",
      create(pb.UpdateTenantRequestSchema, {
        id: "physics",
        quota: { maxConcurrentAllocations: 7 },
        unset: ["max_nodes"],
      }),
    );
    const tenant = changed.tenant as { quota: Record<string, number> };
    expect(tenant.quota).toEqual({ max_concurrent_allocations: 7, fair_share_target: 0.5 });
    const listed = await good("AdminService.ListTenants", create(pb.ListTenantsRequestSchema, { pageSize: 1 }));
    expect((listed.tenants as { id: string }[]).map((t) => t.id)).toEqual(["default"]);
    expect(await good("AdminService.GetTenant", create(pb.GetTenantRequestSchema, { id: "physics" }))).toMatchObject({
      nodes_in_use: 0,
    });
  });

  test("quota is 429 with the figures", async () => {
    await good(
      "AdminService.CreateTenant",
      create(pb.CreateTenantRequestSchema, { id: "small", quota: { maxNodes: 1 } }),
    );
    const answer = await both(
      "AllocationService.Submit",
      submission({ tenant: "small", resources: create(pb.ResourcesSchema, { nodes: { min: 5, max: 5 } }) }),
    );
    expect(answer).toMatchObject({
      problem: { code: "quota_exceeded", status: 429, values: { limit: 1, requested: 5 } },
    });
  });

  test("vClusters", async () => {
    const made = await good(
      "AdminService.CreateVCluster",
      create(pb.CreateVClusterRequestSchema, {
        id: "debug",
        scheduler: pb.SchedulerType.INTERACTIVE_FIFO,
        weights: { priority: 0.9 },
        maxWalltimeSeconds: 600,
      }),
    );
    expect(made).toMatchObject({
      vcluster: { id: "debug", scheduler: "interactive_fifo", cycle_interval_seconds: 5, weights: { priority: 0.5 } },
      warnings: ["the weights sum to 1.8 and were scaled so that they sum to 1"],
    });
    const changed = await good(
      "AdminService.UpdateVCluster",
      create(pb.UpdateVClusterRequestSchema, { id: "debug", backfillDepth: 3, maxWalltimeSeconds: 0 }),
    );
    expect(changed).toMatchObject({ vcluster: { backfill_depth: 3, max_walltime_seconds: 0 } });
    await good("AllocationService.Submit", submission());
    expect(
      await good("AdminService.GetVCluster", create(pb.GetVClusterRequestSchema, { id: "hpc-batch" })),
    ).toMatchObject({
      pending: 1,
      is_default: true,
    });
    const listed = await good("AdminService.ListVClusters", create(pb.ListVClustersRequestSchema));
    expect((listed.vclusters as { id: string }[]).map((v) => v.id)).toEqual(["debug", "hpc-batch"]);
  });

  test("usage", async () => {
    await good("AllocationService.Submit", submission());
    for (const { plane } of [apis.left, apis.right]) {
      plane.start("1", ["n1"]);
      plane.apply();
      plane.finish("1", 0);
    }
    const used = { user: "ada", node_hours: 0.000556, running: { allocations: 0 } };
    const own = await good("AdminService.GetUserUsage", create(pb.GetUserUsageRequestSchema, { days: 2 }));
    expect(own).toMatchObject({ ...used, days: 2, by_tenant: [{ tenant: "default" }] });
    const ofTenant = await good(
      "AdminService.GetTenantUsage",
      create(pb.GetTenantUsageRequestSchema, { id: "default" }),
    );
    expect(ofTenant).toMatchObject({ tenant: "default", by_user: [used], budgets: [] });
    expect(
      await both("AdminService.GetTenantUsage", create(pb.GetTenantUsageRequestSchema, { id: "default", days: 91 })),
    ).toMatchObject({ problem: { code: "invalid_argument", fields: [{ field: "days" }] } });
  });

  test("cluster status", async () => {
    const status = await good("AdminService.GetClusterStatus", create(pb.GetClusterStatusRequestSchema));
    expect(status).toMatchObject({ engine: "memory", is_leader: true, writable: true, members: [{ id: "server-1" }] });
    expect(status.state_hash).toBe(apis.left.plane.hash());
  });

  test("metrics of a server, by component and over time", async () => {
    const ask = (component: string, durationSeconds: number) =>
      both("AdminService.GetServerMetrics", create(pb.GetServerMetricsRequestSchema, { component, durationSeconds }));
    expect(await ask("scheduler", 3_600)).toMatchObject({
      json: {
        component: "scheduler",
        server: "server-1",
        samples: [{ name: "lattice_scheduling_cycles_total", value: 7, points: [{ value: 3 }, { value: 7 }] }],
      },
    });
    const refused = (field: string) => ({ problem: { code: "invalid_argument", fields: [{ field }] } });
    expect(await ask("coffee", 0)).toMatchObject(refused("component"));
    expect(await ask("", 10 ** 6)).toMatchObject(refused("duration_seconds"));
  });

  test("members: a request is checked before anything changes", async () => {
    const add = (id: string, peerAddress: string) =>
      both("AdminService.AddMember", create(pb.AddMemberRequestSchema, { id, peerAddress }));
    const refused = (field: string) => ({ problem: { code: "invalid_argument", fields: [{ field }] } });
    expect(await add("no id", "h:9000")).toMatchObject(refused("id"));
    expect(await add("server-2", "nowhere")).toMatchObject(refused("peer_address"));
    expect(await add("server-2", "h:0")).toMatchObject(refused("peer_address"));
    const ofCluster = (clusterId: string) =>
      both(
        "AdminService.AddMember",
        create(pb.AddMemberRequestSchema, { id: "server-2", peerAddress: "h:9000", clusterId, clusterGeneration: 1 }),
      );
    expect(await ofCluster("a cluster")).toMatchObject(refused("cluster_id"));
    const [own, other] = ["a".repeat(32), "b".repeat(32)];
    expect(await ofCluster(own)).toMatchObject({ problem: { code: "log_unavailable" } });
    for (const { plane } of [apis.left, apis.right]) plane.apply({ kind: "cluster.found", id: own });
    expect(await ofCluster(other)).toMatchObject({ problem: { code: "foreign_cluster" } });
    const alone = { problem: { code: "conflict" } };
    expect(await ofCluster(own)).toMatchObject(alone);
    expect(await add("server-2", "h:9000")).toMatchObject(alone);
    const remove = create(pb.RemoveMemberRequestSchema, { id: "server-2" });
    expect(await both("AdminService.RemoveMember", remove)).toMatchObject(alone);
    const transfer = create(pb.TransferLeaderRequestSchema, { to: "server-2" });
    expect(await both("AdminService.TransferLeader", transfer)).toMatchObject(alone);
  });

  test("backups: an empty list, an invalid destination, an unknown backup", async () => {
    expect(await both("AdminService.ListBackups", create(pb.ListBackupsRequestSchema))).toEqual({
      json: { backups: [] },
    });
    const elsewhere = create(pb.CreateBackupRequestSchema, { destination: "/etc" });
    const refused = { problem: { code: "invalid_argument", fields: [{ field: "destination" }] } };
    expect(await both("AdminService.CreateBackup", elsewhere)).toMatchObject(refused);
    const unknown = { problem: { code: "unknown_backup" } };
    const source = "backup-20260101T000000Z.tar.gz";
    expect(await both("AdminService.VerifyBackup", create(pb.VerifyBackupRequestSchema, { source }))).toMatchObject(
      unknown,
    );
    expect(await both("AdminService.RestoreBackup", create(pb.RestoreBackupRequestSchema, { source }))).toMatchObject(
      unknown,
    );
  });
});

describe("services", () => {
  test("without services none is found", async () => {
    expect(await good("AdminService.ListServices", create(pb.ListServicesRequestSchema))).toEqual({ services: [] });
    const missing = await both("AdminService.LookupService", create(pb.LookupServiceRequestSchema, { name: "web" }));
    expect(missing).toMatchObject({ problem: { code: "unknown_service" } });
  });
});

describe("freshness", () => {
  test("answers have the log index; a request may name a minimum", async () => {
    const { headers } = await callHttp(apis.left, { path: "/api/v1/nodes" });
    const index = Number(headers["x-lattice-log-index"]);
    expect(index).toBe(apis.left.plane.view().index);
    const waiting = callRest(apis.left, { path: `/api/v1/nodes?min_index=${index + 1}&consistent=true` });
    const waitingByHeader = callRest(apis.left, {
      path: "/api/v1/nodes",
      headers: { "x-lattice-min-index": `${index + 1}` },
    });
    const waitingGrpc = callGrpc(apis.left, "NodeService.ListNodes", create(pb.ListNodesRequestSchema), {
      "x-lattice-min-index": `${index + 1}`,
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    apis.left.plane.addNode("n9");
    for (const answer of await Promise.all([waiting, waitingByHeader, waitingGrpc]))
      expect(answer).toMatchObject({ json: { total: 4, log_index: String(index + 1) } });
    expect(await callRest(apis.left, { path: "/api/v1/nodes?min_index=soon" })).toMatchObject({
      problem: { code: "invalid_argument", fields: [{ field: "min_index" }] },
    });
  });
});

test("every service is covered here or in rest-and-grpc-work.test.ts", () => {
  expect(SERVICES.map(({ name }) => name).sort()).toEqual([...PLAIN_SERVICES, ...WORK_SERVICES].sort());
});
