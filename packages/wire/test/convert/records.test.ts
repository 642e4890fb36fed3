// Records of the core as the API shows them, and administrators' input on its way in.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationId,
  type AllocationPhase,
  allocationMoves,
  attempt,
  duration,
  instant,
  logIndex,
  type Node,
  type NodeState,
  newAllocation,
  nodeMoves,
  type PhaseKind,
  UNLIMITED,
  type UserName,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { describe, expect, test } from "vitest";
import {
  allocationStateFromProto,
  allocationStateToProto,
  allocationToProto,
  capabilitiesFromProto,
  capabilitiesToProto,
  eventToProto,
  formatCursor,
  logStreamFromProto,
  logStreamToProto,
  nodeStateFromProto,
  nodeStateToProto,
  nodeToProto,
  parseCursor,
  pb,
  quotaFromProto,
  quotaToProto,
  schedulerFromProto,
  schedulerToProto,
  specFromProto,
  tenantToProto,
  toJson,
  vclusterToProto,
  weightsFromProto,
  weightsToProto,
} from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

const defaults = { tenant: "default", vcluster: "hpc-batch", defaultWalltimeMs: () => null };
const spec = specFromProto(create(pb.AllocationSpecSchema, { entrypoint: "true" }), defaults);
const allocation = (phase: AllocationPhase): Allocation => ({
  ...newAllocation(
    { id: "7" as AllocationId, user: "ada" as UserName, spec, submittedAt: instant(1_000) },
    { at: instant(1_000), index: logIndex(1) },
  ),
  phase,
  attempt: attempt(1),
  scores: { total: 512 },
  backfilled: true,
});
const phase = (value: object): AllocationPhase => value as unknown as AllocationPhase;
const shown = (value: object, extra = {}) =>
  toJson(pb.AllocationSchema, allocationToProto(allocation(phase(value)), extra));

describe("allocationToProto", () => {
  test("pending: why it waits and when it should start", () => {
    const waiting = { kind: "pending", since: 1_000, cause: "node_failure" };
    const extra = { pendingReasons: ["4 of 8 nodes are free"], estimate: { at: 60_000, reserved: true }, logIndex: 42 };
    const json = shown(waiting, extra);
    expect(json).toMatchObject({
      id: "7",
      state: "pending",
      reason: "node_failure",
      pending_reasons: ["4 of 8 nodes are free"],
      estimated_start: "1970-01-01T00:01:00.000Z",
      start_reserved: true,
      log_index: "42",
      nodes: [],
      scores: { total: 512 },
      backfilled: true,
    });
    expect(json).not.toHaveProperty("started_at");
    expect(shown({ ...waiting, cause: "submitted" })).toMatchObject({ reason: "" });
  });

  test("running: one line of progress per node", () => {
    const progress = [
      { state: "running", exitCode: null, message: "" },
      { state: "failed", exitCode: 0, message: "x" },
      { state: "ordered", exitCode: null, message: "" },
    ];
    const json = shown({ kind: "running", nodes: ["a", "b", "c"], placedAt: 1, startedAt: 5_000, progress });
    expect(json).toMatchObject({
      state: "running",
      nodes: ["a", "b", "c"],
      started_at: "1970-01-01T00:00:05.000Z",
      progress: [
        { node: "a", state: "running" },
        { node: "b", state: "failed", exit_code: 0, message: "x" },
        { node: "c", state: "pending" },
      ],
    });
  });

  test("ended: how", () => {
    const ended = { nodes: ["a"], startedAt: null, endedAt: 9_000, exitCode: 137, message: "killed" };
    expect(shown({ ...ended, kind: "failed", reason: "walltime_exceeded" })).toMatchObject({
      state: "failed",
      reason: "walltime_exceeded",
      message: "killed",
      exit_code: 137,
      ended_at: "1970-01-01T00:00:09.000Z",
    });
    expect(shown({ ...ended, kind: "completed", exitCode: 0 })).toMatchObject({ state: "completed", exit_code: 0 });
    const cancelled = shown({ ...ended, kind: "cancelled", by: "ada", reason: "no need", exitCode: null });
    expect(cancelled).toMatchObject({ state: "cancelled", reason: "no need" });
    expect(cancelled).not.toHaveProperty("exit_code");
    expect(shown({ kind: "suspended", since: 1 })).toMatchObject({ state: "suspended", nodes: [] });
  });

  test("a spec is converted once, a changed one again, and an element with its own index", () => {
    const waiting = allocation(phase({ kind: "pending", since: 1_000, cause: "submitted" }));
    const first = allocationToProto(waiting).spec;
    expect(allocationToProto({ ...waiting, requeues: 1 }).spec).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    const renamed = { ...waiting, spec: { ...spec, name: "other" } };
    expect([allocationToProto(renamed).spec?.name, first?.name]).toEqual(["other", ""]);
    const line = { ...spec, task: { kind: "entrypoint", line: `run \${INDEX}` } } as Allocation["spec"];
    const element = (index: number) => ({ ...waiting, spec: line, element: { group: waiting.id, index } });
    expect([1, 2].map((n) => allocationToProto(element(n)).spec?.entrypoint)).toEqual(["run 1", "run 2"]);
  });

  test("a cached spec survives a thousand others, and a long task is not cached", () => {
    const waiting = allocation(phase({ kind: "pending", since: 1_000, cause: "submitted" }));
    const json = () => toJson(pb.AllocationSchema, allocationToProto(waiting));
    const before = json();
    for (let n = 0; n < 5_000; n += 1) allocationToProto({ ...waiting, spec: { ...spec, name: `n${n}` } });
    expect(json()).toEqual(before);
    const long = { ...waiting, spec: { ...spec, task: { kind: "script", text: "#".repeat(5_000) } } } as Allocation;
    expect(allocationToProto(long).spec).not.toBe(allocationToProto(long).spec);
  });
});

describe("nodeToProto", () => {
  const capabilities = {
    cpuCores: 8,
    memoryBytes: 2 ** 35,
    gpuType: "GH200",
    gpuCount: 4,
    features: ["nvme"],
    hostname: "h",
    kernel: "6.1",
    isolation: "cgroup2",
    hollow: false,
  };
  const node = (state: object): Node =>
    ({
      id: "n1",
      state: state as NodeState,
      capabilities,
      group: "g0",
      conformance: "c",
      homeVCluster: null,
      address: "",
      agentVersion: "1",
      bootId: "b",
      registeredAt: instant(0),
      claims: [
        { allocation: "7", attempt: 1, tenant: "t", vcluster: "v", exclusive: true, releasing: false, since: 0 },
      ],
    }) as unknown as Node;

  test("shows the state with its cause, the claims and the last heartbeat", () => {
    const down = { kind: "down", since: 5, cause: "silent", reason: "no heartbeat", back: "ready" };
    const json = toJson(pb.NodeSchema, nodeToProto(node(down), { lastHeardAt: 4_000, connected: false }));
    expect(json).toMatchObject({
      state: "down",
      cause: "silent",
      reason: "no heartbeat",
      home_vcluster: "",
      capabilities: { memory_gb: 32, gpu_count: 4 },
      claims: [{ allocation_id: "7", attempt: 1, exclusive: true }],
      last_heartbeat: "1970-01-01T00:00:04.000Z",
      connected: false,
    });
    const ready = toJson(
      pb.NodeSchema,
      nodeToProto(node({ kind: "ready", since: 5 }), { lastHeardAt: null, connected: true }),
    );
    expect(ready).toMatchObject({ state: "ready", cause: "", reason: "", connected: true });
    expect(ready).not.toHaveProperty("last_heartbeat");
  });

  test("capabilities survive a round trip", async () => {
    expect(capabilitiesFromProto(capabilitiesToProto(capabilities))).toEqual(capabilities);
    const odd = { ...capabilities, memoryBytes: 135_000_000_001 };
    expect(capabilitiesFromProto(capabilitiesToProto(odd))).toEqual(odd);
    const wrong = create(pb.CapabilitiesSchema, { memoryGb: -1 });
    expect(fieldLines(await refusal(() => capabilitiesFromProto(wrong)))[0]).toContain("capabilities.memory_gb");
  });
});

describe("tenants and vClusters", () => {
  const tenant = { id: "t", description: "d", maxPreemptionClass: 10, createdAt: instant(0), automatic: false };

  test("limits survive a round trip, and unnamed ones stay unset", () => {
    const quota = { ...UNLIMITED, maxNodes: 0, fairShareMilli: 250, gpuHoursBudget: 100, burstAllowanceMilli: 1_500 };
    expect({ ...UNLIMITED, ...quotaFromProto(quotaToProto(quota)) }).toEqual(quota);
    expect(quotaFromProto(undefined)).toEqual({});
    const message = tenantToProto({ ...tenant, quota } as never, { nodes: 3, running: 2 });
    expect(toJson(pb.TenantSchema, message)).toMatchObject({
      quota: { max_nodes: 0, fair_share_target: 0.25, burst_allowance: 1.5 },
      nodes_in_use: 3,
      running_allocations: 2,
    });
  });

  test("limits are removed by name", async () => {
    expect(quotaFromProto(undefined, ["max_nodes", "fair_share_target"])).toEqual({
      maxNodes: null,
      fairShareMilli: null,
    });
    expect(fieldLines(await refusal(() => quotaFromProto(undefined, ["max_node"])))).toEqual([
      'unset[0]: is not the name of a limit | Did you mean "max_nodes"?',
    ]);
    const both = create(pb.QuotaSchema, { maxNodes: 1 });
    expect(fieldLines(await refusal(() => quotaFromProto(both, ["max_nodes"])))).toEqual([
      "unset[0]: max_nodes is both set and removed",
    ]);
  });

  test.each([
    [{ fairShareTarget: -0.1 }, "quota.fair_share_target"],
    [{ fairShareTarget: Number.NaN }, "quota.fair_share_target"],
    [{ gpuHoursBudget: 1.5 }, "quota.gpu_hours_budget"],
    [{ nodeHoursBudget: -1 }, "quota.node_hours_budget"],
    [{ burstAllowance: Infinity }, "quota.burst_allowance"],
  ])("refuses %j", async (init, field) => {
    expect((await refusal(() => quotaFromProto(create(pb.QuotaSchema, init)))).fields[0]?.field).toBe(field);
  });

  test("weights survive a round trip in thousandths", async () => {
    for (const weights of Object.values(WEIGHT_PROFILES))
      expect(weightsFromProto(weightsToProto(weights))).toEqual(weights);
    expect(weightsFromProto(create(pb.WeightsSchema, { waitTime: 0.1234 }))).toEqual({ wait_time: 123 });
    expect(weightsFromProto(undefined)).toEqual({});
    const wrong = create(pb.WeightsSchema, { energy: -1, backlog: Number.NaN });
    expect((await refusal(() => weightsFromProto(wrong))).fields.map(({ field }) => field)).toEqual([
      "weights.backlog",
      "weights.energy",
    ]);
  });

  test("a vCluster", () => {
    const vcluster = {
      id: "v",
      description: "",
      tenant: null,
      scheduler: "service_bin_pack",
      weights: WEIGHT_PROFILES.service_bin_pack,
      cycleInterval: duration(5_000),
      backfillDepth: 10,
      defaultWalltime: duration(3_600_000),
      maxWalltime: null,
      isDefault: true,
      createdAt: instant(0),
    };
    expect(toJson(pb.VClusterSchema, vclusterToProto(vcluster as never, { pending: 2, running: 1 }))).toMatchObject({
      scheduler: "service_bin_pack",
      tenant: "",
      cycle_interval_seconds: 5,
      default_walltime_seconds: 3_600,
      max_walltime_seconds: 0,
      weights: { priority: 0.15 },
      pending: 2,
      running: 1,
      is_default: true,
    });
  });
});

describe("words and cursors", () => {
  test("every state of the core has its number", () => {
    for (const state of Object.keys(allocationMoves) as PhaseKind[]) {
      expect(allocationStateFromProto(allocationStateToProto(state))).toBe(state);
    }
    for (const state of Object.keys(nodeMoves) as (keyof typeof nodeMoves)[]) {
      expect(nodeStateFromProto(nodeStateToProto(state))).toBe(state);
    }
    for (const kind of Object.keys(WEIGHT_PROFILES) as (keyof typeof WEIGHT_PROFILES)[]) {
      expect(schedulerFromProto(schedulerToProto(kind))).toBe(kind);
    }
    expect(allocationStateFromProto(0)).toBeNull();
    expect(allocationStateFromProto(99 as pb.AllocationState)).toBeNull();
    expect(logStreamFromProto(0)).toBe("stdout");
    expect(logStreamFromProto(logStreamToProto("stderr"))).toBe("stderr");
  });

  test("events carry their cursor", () => {
    const cursor = { index: logIndex(12), n: 3 };
    const event = { kind: "allocation_changed", allocation: "7", from: "pending", to: "running" } as never;
    expect(toJson(pb.EventSchema, eventToProto({ cursor, at: 1_000, event }))).toMatchObject({
      cursor: "12:3",
      at: "1970-01-01T00:00:01.000Z",
      kind: "allocation_changed",
      allocation_id: "7",
      from: "pending",
      to: "running",
      node: "",
    });
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
    for (const text of ["", "1", "1:", "a:b", "-1:0", "1:2:3", "1e3:1", "9999999999999999999:0"]) {
      expect(parseCursor(text), text).toBeNull();
    }
  });
});
