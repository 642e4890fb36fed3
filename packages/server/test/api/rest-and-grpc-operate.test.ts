// Operation, settings and metrics over REST and gRPC.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/base/config/table/index.ts";
import { callHttp, streamGrpc } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";
import { OPERATE_RPCS, PLAIN_SERVICES, USER, useTwoApis } from "./two-apis.ts";

provesCalls(import.meta.url);

const apis = useTwoApis(PLAIN_SERVICES, (rpc) => OPERATE_RPCS.has(rpc));
const { both, good } = apis;

type SpecInit = Extract<MessageInitShape<typeof pb.AllocationSpecSchema>, { $typeName?: never }>;
const submit = (fields: SpecInit = {}) =>
  good(
    "AllocationService.Submit",
    create(pb.SubmitRequestSchema, {
      allocation: create(pb.AllocationSpecSchema, { entrypoint: "hostname", ...fields }),
    }),
  );
const list = async (fields: MessageInitShape<typeof pb.ListAllocationsRequestSchema>) => {
  const answer = await good("AllocationService.List", create(pb.ListAllocationsRequestSchema, fields));
  return (answer.allocations as { id: string }[]).map(({ id }) => id);
};
const onBoth = (act: (side: typeof apis.left) => void) => {
  for (const side of [apis.left, apis.right]) act(side);
};
const makeVCluster = (id: string, scheduler: pb.SchedulerType, tenant = "") =>
  good("AdminService.CreateVCluster", create(pb.CreateVClusterRequestSchema, { id, scheduler, tenant }));

describe("intent and filters", () => {
  test("a vCluster is chosen by intent when none is named", async () => {
    await makeVCluster("ml-training", pb.SchedulerType.ML_TRAINING);
    await good("AdminService.CreateTenant", create(pb.CreateTenantRequestSchema, { id: "art" }));
    await makeVCluster("art-ml", pb.SchedulerType.ML_TRAINING, "art");
    const chosen = async (fields: SpecInit) => {
      const { id, warnings } = await submit(fields);
      const got = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: String(id) }));
      return [(got.spec as { vcluster: string }).vcluster, (warnings as string[]).length];
    };
    expect(await chosen({ intent: "train" })).toEqual(["ml-training", 1]);
    expect(await chosen({ intent: "Train", tenant: "art" })).toEqual(["art-ml", 1]);
    expect(await chosen({ intent: "serve" })).toEqual(["hpc-batch", 1]);
    expect(await chosen({ intent: "train", vcluster: "hpc-batch" })).toEqual(["hpc-batch", 0]);
    expect(await chosen({})).toEqual(["hpc-batch", 0]);
  });

  test("tags, projects, times and reasons", async () => {
    await submit({ tags: { run: "1", kind: "a" }, project: "p" });
    await submit({ tags: { run: "2", kind: "a" } });
    await submit({});
    expect(await list({ tag: ["kind=a"] })).toEqual(["2", "1"]);
    expect(await list({ tag: ["kind", "run=1"] })).toEqual(["1"]);
    expect(await list({ project: "p" })).toEqual(["1"]);
    onBoth(({ plane }) => {
      plane.start("1", ["n1"]);
      plane.finish("1", 0);
    });
    const all = await good("AllocationService.List", create(pb.ListAllocationsRequestSchema));
    const [third, , first] = all.allocations as { submitted_at: string; ended_at: string }[];
    const at = (text: string | undefined, plusMs: number) => ({
      seconds: BigInt(Math.floor((Date.parse(text ?? "") + plusMs) / 1000)),
      nanos: 0,
    });
    expect(await list({ since: at(first?.ended_at, 1000) })).toEqual(["3", "2"]);
    expect(await list({ until: at(third?.submitted_at, 0) })).toEqual(["2", "1"]);
    expect(await list({ reasonCode: ["busy"] })).toEqual([]);
    const twisted = create(pb.ListAllocationsRequestSchema, {
      since: at(third?.submitted_at, 0),
      until: at(first?.submitted_at, 0),
    });
    expect(await both("AllocationService.List", twisted)).toMatchObject({ problem: { code: "invalid_argument" } });
    const got = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: "2" }));
    expect(got.pending_reason_codes).toEqual(["busy"]);
  });

  test("the telemetry mode can be changed while work runs", async () => {
    await submit({ telemetry: { mode: "audit" } });
    const update = (fields: Omit<MessageInitShape<typeof pb.UpdateAllocationRequestSchema>, "$typeName">) =>
      both("AllocationService.Update", create(pb.UpdateAllocationRequestSchema, { id: "1", ...fields }));
    expect(await update({ telemetryMode: "debug", telemetrySeconds: 1_800 })).toMatchObject({
      json: { allocation: { spec: { telemetry: { mode: "debug", until: expect.any(String) } } } },
    });
    const measured = await good("AllocationService.QueryMetrics", create(pb.MetricsRequestSchema, { id: "1" }));
    expect(measured).toMatchObject({ telemetry_mode: "debug" });
    expect(await update({ telemetryMode: "prod" })).not.toMatchObject({
      json: { allocation: { spec: { telemetry: expect.anything() } } },
    });
    for (const wrong of [{ telemetryMode: "loud" }, { telemetrySeconds: 5 }]) {
      expect(await update(wrong)).toMatchObject({ problem: { code: "invalid_argument" } });
    }
  });
});

describe("what is measured", () => {
  test("without samples the answer gives the reason", async () => {
    await submit({ name: "a" });
    await submit({ name: "b" });
    onBoth(({ plane }) => plane.start("1", ["n1", "n2"].slice(0, 1)));
    expect(await good("AllocationService.QueryMetrics", create(pb.MetricsRequestSchema, { id: "1" }))).toMatchObject({
      series: [],
      unavailable_reason: expect.stringContaining("No samples in that time"),
    });
    const compare = (fields: MessageInitShape<typeof pb.CompareRequestSchema>) =>
      both("AllocationService.CompareMetrics", create(pb.CompareRequestSchema, fields));
    expect(await compare({ ids: ["1", "2"] })).toMatchObject({
      json: { allocations: [{ name: "a", nodes: 1 }, { name: "b" }], unavailable_reason: expect.stringMatching(/./) },
    });
    expect(await compare({ ids: ["1"] })).toMatchObject({ problem: { code: "invalid_argument" } });
    expect(await compare({ ids: ["1", "77"] })).toMatchObject({ problem: { code: "unknown_allocation" } });
    const wrong = create(pb.MetricsRequestSchema, { id: "1", metrics: ["luck"] });
    expect(await both("AllocationService.QueryMetrics", wrong)).toMatchObject({
      problem: { code: "invalid_argument" },
    });
    // Running work is followed; pending work ends the stream.
    const stream = create(pb.StreamMetricsRequestSchema, { id: "2" });
    const events = [];
    for await (const event of streamGrpc(apis.right, "AllocationService.StreamMetrics", stream)) events.push(event);
    expect(events).toMatchObject([{ allocationId: "2", unavailableReason: expect.stringMatching(/./) }]);
    const overRest = await callHttp(apis.left, { path: "/api/v1/allocations/2/metrics/stream", headers: USER });
    expect(overRest.text).toContain("unavailable_reason");
  });

  test("diagnostics show nodes, groups and mounts", async () => {
    await submit({ data: { mounts: [{ source: "/data", target: "/input" }] } });
    onBoth(({ plane }) => plane.start("1", ["n1"]));
    const ask = (section: string) =>
      both("AllocationService.GetDiagnostics", create(pb.DiagnosticsRequestSchema, { id: "1", section }));
    expect(await ask("")).toMatchObject({
      json: {
        network: { group_span: 1, groups: [{ group: "g0", nodes: 1 }] },
        storage: { mounts: [{ source: "/data", target: "/input", access: "read-only" }] },
        nodes: [{ node: "n1", state: "ready", connected: true, progress: "running" }],
      },
    });
    const unmeasured = (answer: unknown) =>
      (answer as { json: { unmeasured: { metric: string; reason: string }[] } }).json.unmeasured;
    expect(unmeasured(await ask("storage"))).toEqual([
      { metric: "storage.throughput", reason: expect.stringContaining("io_read_bytes") },
      { metric: "storage.latency", reason: expect.stringContaining("no time-series store is configured") },
      { metric: "storage.mount_health", reason: expect.stringContaining("Agents do not measure it") },
    ]);
    expect(await ask("network")).not.toMatchObject({ json: { storage: expect.anything() } });
    expect(await ask("weather")).toMatchObject({ problem: { code: "invalid_argument" } });
    const path = await callHttp(apis.left, {
      method: "GET",
      path: "/v1/allocations/1/diagnostics/storage",
      headers: USER,
    });
    expect(path.status).toBe(200);
  });
});

describe("operating", () => {
  test("the queue and the status of the scheduler", async () => {
    await submit({ name: "first" });
    await submit({ name: "second" });
    const queue = await good(
      "AdminService.GetQueue",
      create(pb.GetQueueRequestSchema, { id: "hpc-batch", pageSize: 1 }),
    );
    expect(queue).toMatchObject({
      total: 2,
      entries: [{ position: 1, allocation_id: "1", name: "first", user: "ada" }],
    });
    const next = create(pb.GetQueueRequestSchema, { id: "hpc-batch", pageToken: String(queue.next_page_token) });
    expect(await good("AdminService.GetQueue", next)).toMatchObject({ entries: [{ position: 2, allocation_id: "2" }] });
    const status = await good("AdminService.GetSchedulerStatus", create(pb.GetSchedulerStatusRequestSchema));
    expect(status).toMatchObject({ vclusters: [{ vcluster: "hpc-batch", pending: 2, cycles: 0 }] });
    const nowhere = create(pb.GetSchedulerStatusRequestSchema, { vcluster: "nowhere" });
    expect(await both("AdminService.GetSchedulerStatus", nowhere)).toMatchObject({ problem: { status: 404 } });
  });

  test("accounting of finished work", async () => {
    await submit({ name: "done", tags: { a: "b" } });
    await submit({ name: "waits" });
    onBoth(({ plane }) => {
      plane.start("1", ["n1"]);
      plane.finish("1", 3);
    });
    const ask = (fields: MessageInitShape<typeof pb.GetAccountingRequestSchema>) =>
      both("AdminService.GetAccounting", create(pb.GetAccountingRequestSchema, fields));
    expect(await ask({})).toMatchObject({
      json: {
        records: [{ allocation_id: "1", state: "failed", exit_code: 3, nodes: 1, attempts: 1, tags: { a: "b" } }],
      },
    });
    expect(await ask({ state: ["completed"] })).toMatchObject({ json: { records: [] } });
    expect(await ask({ state: ["running"] })).toMatchObject({ problem: { code: "invalid_argument" } });
  });

  test("tenants and vClusters are deleted when they are not in use", async () => {
    await good("AdminService.CreateTenant", create(pb.CreateTenantRequestSchema, { id: "art" }));
    await makeVCluster("art-ml", pb.SchedulerType.ML_TRAINING, "art");
    await submit({ tenant: "art", vcluster: "art-ml" });
    const tenant = () => both("AdminService.DeleteTenant", create(pb.DeleteTenantRequestSchema, { id: "art" }));
    const vcluster = (id: string) =>
      both("AdminService.DeleteVCluster", create(pb.DeleteVClusterRequestSchema, { id }));
    expect(await tenant()).toMatchObject({ problem: { status: 409, detail: expect.stringContaining("art-ml") } });
    expect(await vcluster("art-ml")).toMatchObject({ problem: { status: 409, detail: expect.stringContaining("1") } });
    expect(await vcluster("hpc-batch")).toMatchObject({ problem: { status: 409 } });
    await good("AllocationService.Cancel", create(pb.CancelRequestSchema, { id: "1" }));
    expect(await vcluster("art-ml")).toMatchObject({ json: { id: "art-ml" } });
    expect(await tenant()).toMatchObject({ json: { id: "art" } });
    expect(await tenant()).toMatchObject({ problem: { status: 404 } });
    const kept = await good("AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: "1" }));
    expect(kept).toMatchObject({ state: "cancelled", spec: { tenant: "art" } });
  });

  test("settings are read, changed for all servers at once, and reset", async () => {
    const get = (key: string) => both("AdminService.GetConfig", create(pb.GetConfigRequestSchema, { key }));
    const set = (key: string, value: string, reset = false) =>
      both("AdminService.SetConfig", create(pb.SetConfigRequestSchema, { key, value, reset }));
    expect(await get("scheduling.max_dag_size")).toMatchObject({
      json: { settings: [{ value: "1000", source: "default" }] },
    });
    expect(await set("scheduling.max_dag_size", "2")).toMatchObject({
      json: { settings: [{ value: "2", source: "cluster", set_by: "ada" }] },
    });
    expect(await set("node_agent.grace_period", "90s")).toMatchObject({ json: { settings: [{ value: '"90s"' }] } });
    expect(await set("retention.max_finished", "7")).toMatchObject({ json: { settings: [{ value: "7" }] } });
    onBoth(({ plane }) => expect(plane.view().retention.maxFinished).toBe(7));
    // The limits of placements are in the state, from the same entry on.
    expect(await set("scheduling.sensitive_pool_size", "4")).toMatchObject({ json: { settings: [{ value: "4" }] } });
    onBoth(({ plane }) => expect(plane.view().limits).toEqual({ sensitivePoolSize: 4 }));
    expect(await set("scheduling.sensitive_pool_size", "", true)).toMatchObject({
      json: { settings: [{ value: "null" }] },
    });
    onBoth(({ plane }) => expect(plane.view().limits).toEqual({ sensitivePoolSize: null }));
    expect(await set("scheduling.max_dag_size", "", true)).toMatchObject({ json: { settings: [{ value: "1000" }] } });
    for (const [key, value] of [
      ["scheduling.max_dag_size", "many"],
      ["scheduling.sensitive_pool_size", "-1"],
      ["node_agent.heartbeat_timeout", "1s"],
      ["server.id", "other"],
      ["accounting.enabled", "true"],
      ["rate_limits.tenants", '{"physics":"many"}'],
      ["scheduling.max_dag_sizes", "3"],
      ["__proto__.x", "3"],
    ] as const) {
      const before = apis.left.plane.hash();
      expect(await set(key, value)).toMatchObject({ problem: { code: "invalid_argument" } });
      expect(apis.left.plane.hash()).toBe(before);
    }
    const all = await good("AdminService.GetConfig", create(pb.GetConfigRequestSchema));
    expect(all.settings).toMatchObject([...SETTINGS.keys()].map((key) => ({ key })));
    expect(await get("scheduling")).toMatchObject({ json: { settings: { length: 7 } } });
    expect(await get("nothing")).toMatchObject({ problem: { code: "invalid_argument" } });
  });

  test("a refused setting gives the reason and the remedy", async () => {
    const get = (key: string) => both("AdminService.GetConfig", create(pb.GetConfigRequestSchema, { key }));
    const set = (key: string, value: string) =>
      both("AdminService.SetConfig", create(pb.SetConfigRequestSchema, { key, value }));
    const refused = async (key: string, value: string) => {
      const answer = await set(key, value);
      if (!("problem" in answer)) throw new Error(`${key} was set`);
      return answer.problem;
    };
    expect(await get("accounting.enabled")).toMatchObject({ json: { settings: [{ value: "false" }] } });
    expect((await refused("accounting.enabled", "true")).detail).toContain("does not support accounting systems");
    expect((await refused("accounting.waldur.api_url", "https://w")).detail).toContain(
      "does not support accounting systems",
    );
    expect((await refused("backup.interval", "2h")).hint).toMatch(/file of every server.*restart/);
    expect((await refused("scheduling.max_dag_sise", "3")).hint).toContain("scheduling.max_dag_size");
    // A section has an alias, and limits per tenant are a table.
    const tenants = { json: { settings: [{ key: "rate_limits.tenants", value: '{"physics":500}', live: true }] } };
    expect(await set("rate_limit.tenants", '{"physics": 500}')).toMatchObject(tenants);
    expect(await get("rate_limit.tenants")).toMatchObject(tenants);
    expect(await set("rate_limits.stalled_stream_timeout", "30s")).toMatchObject({
      json: { settings: [{ value: '"30s"', source: "cluster" }] },
    });
  });
});
