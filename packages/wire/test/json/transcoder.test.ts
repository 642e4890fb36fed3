// The form of JSON, and every way to get it wrong.

import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { fromJson, MAX_ITEMS, pb, timestampFromMs, toJson } from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

describe("toJson", () => {
  test("names, enum words and instants are written, and unset fields omitted", () => {
    const node = create(pb.NodeSchema, {
      id: "n1",
      state: pb.NodeState.READY,
      since: timestampFromMs(1_700_000_000_123),
      capabilities: { memoryGb: 1.5, features: ["nvme"] },
    });
    expect(toJson(pb.NodeSchema, node)).toEqual({
      id: "n1",
      state: "ready",
      cause: "",
      reason: "",
      since: "2023-11-14T22:13:20.123Z",
      capabilities: {
        cpu_cores: 0,
        memory_gb: 1.5,
        gpu_type: "",
        gpu_count: 0,
        features: ["nvme"],
        hostname: "",
        kernel: "",
        isolation: "",
        hollow: false,
        cxl_memory_gb: 0,
        power_watts: 0,
        runtimes: [],
      },
      group: "",
      conformance: "",
      expected_conformance: "",
      hardware_warning: "",
      home_tenant: "",
      home_vcluster: "",
      claims: [],
      agent_version: "",
      connected: false,
      address: "",
      current_vcluster: "",
    });
  });

  test("lists are written; empty maps, unset optionals and unspecified enums are omitted", () => {
    expect(toJson(pb.ListAllocationsResponseSchema, create(pb.ListAllocationsResponseSchema))).toEqual({
      allocations: [],
      next_page_token: "",
      total: 0,
      log_index: "",
    });
    expect(toJson(pb.QuotaSchema, create(pb.QuotaSchema, { maxNodes: 0 }))).toEqual({ max_nodes: 0 });
    expect(toJson(pb.LifecycleSchema, create(pb.LifecycleSchema))).toEqual({
      walltime_seconds: 0,
      no_preempt: false,
    });
  });

  test("a scheduler, bytes, and a value that this version does not know", () => {
    const vcluster = create(pb.CreateVClusterRequestSchema, { scheduler: pb.SchedulerType.HPC_BACKFILL });
    expect(toJson(pb.CreateVClusterRequestSchema, vcluster)).toMatchObject({ scheduler: "hpc_backfill" });
    const chunk = create(pb.LogChunkSchema, { data: new Uint8Array([104, 105]), stream: 77 as pb.LogStream });
    expect(toJson(pb.LogChunkSchema, chunk)).toMatchObject({ data: "aGk=", stream: "77" });
  });
});

describe("fromJson", () => {
  test.each(["hpc_backfill", "hpc-backfill", "HPC_BACKFILL", "SCHEDULER_TYPE_HPC_BACKFILL", "Hpc-Backfill"])(
    "takes %s for an enum value",
    (scheduler) => {
      expect(fromJson(pb.CreateVClusterRequestSchema, { scheduler }).scheduler).toBe(pb.SchedulerType.HPC_BACKFILL);
    },
  );

  test("null means not given", () => {
    expect(fromJson(pb.UpdateTenantRequestSchema, { id: "a", quota: null, max_preemption_class: null })).toEqual(
      create(pb.UpdateTenantRequestSchema, { id: "a" }),
    );
  });

  const spec = (allocation: unknown) => () => fromJson(pb.SubmitRequestSchema, { allocation });
  const RANGE = "between 0 and 4294967295";
  test.each<[string, () => unknown, string[]]>([
    ["no object", () => fromJson(pb.SubmitRequestSchema, [1]), ["body: must be an object, not a list"]],
    ["null", () => fromJson(pb.SubmitRequestSchema, null), ["body: must be an object, not null"]],
    [
      "an unknown field",
      spec({ entrypont: "x" }),
      ['allocation.entrypont: is not a known field | Did you mean "entrypoint"?'],
    ],
    [
      "camel case",
      () => fromJson(pb.ListNodesRequestSchema, { pageSize: 1 }),
      ['pageSize: is not a known field | Did you mean "page_size"?'],
    ],
    ["a far name", spec({ zzzzzz: 1 }), ["allocation.zzzzzz: is not a known field"]],
    ["an inherited name", spec(JSON.parse('{"constructor": 1}')), ["allocation.constructor: is not a known field"]],
    [
      "a string for a number",
      spec({ resources: { tasks_per_node: "4" } }),
      [`allocation.resources.tasks_per_node: must be a whole number ${RANGE}, not a string | Write 4 without quotes.`],
    ],
    [
      "a negative number",
      spec({ resources: { nodes: { min: -1 } } }),
      [`allocation.resources.nodes.min: must be ${RANGE}, not -1`],
    ],
    [
      "a huge number",
      spec({ resources: { nodes: { min: 4_294_967_296 } } }),
      [`allocation.resources.nodes.min: must be ${RANGE}, not 4294967296`],
    ],
    [
      "1e300",
      spec({ lifecycle: { max_requeue: 1e300 } }),
      [`allocation.lifecycle.max_requeue: must be ${RANGE}, not 1e+300`],
    ],
    [
      "a fraction",
      spec({ lifecycle: { walltime_seconds: 1.5 } }),
      [`allocation.lifecycle.walltime_seconds: must be a whole number ${RANGE}, not 1.5`],
    ],
    [
      "NaN",
      spec({ resources: { constraints: { memory_gb: Number.NaN } } }),
      ["allocation.resources.constraints.memory_gb: must be a finite number"],
    ],
    [
      "infinity",
      spec({ resources: { constraints: { memory_gb: Infinity } } }),
      ["allocation.resources.constraints.memory_gb: must be a finite number"],
    ],
    [
      "a number for a string",
      spec({ name: 5 }),
      ['allocation.name: must be a string, not the number 5 | Write "5" in quotes.'],
    ],
    [
      "half a surrogate pair",
      spec({ name: "a\ud800b" }),
      ["allocation.name: is not well-formed Unicode (half of a surrogate pair)"],
    ],
    ["a string for a flag", spec({ sensitive: "yes" }), ["allocation.sensitive: must be true or false, not a string"]],
    [
      "an unknown word",
      spec({ lifecycle: { requeue_policy: "allways" } }),
      ['allocation.lifecycle.requeue_policy: must be one of never, on_node_failure, always | Did you mean "always"?'],
    ],
    [
      "an enum number",
      spec({ lifecycle: { type: 1 } }),
      ["allocation.lifecycle.type: must be one of bounded, unbounded, reactive"],
    ],
    [
      "unspecified by name",
      spec({ lifecycle: { type: "unspecified" } }),
      ["allocation.lifecycle.type: must be one of bounded, unbounded, reactive"],
    ],
    ["an object for a list", spec({ command: { a: 1 } }), ["allocation.command: must be a list, not an object"]],
    [
      "a wrong item",
      spec({ command: ["a", 5, null] }),
      [
        'allocation.command[1]: must be a string, not the number 5 | Write "5" in quotes.',
        "allocation.command[2]: must be a string, not null",
      ],
    ],
    ["a list for a map", spec({ tags: ["a"] }), ["allocation.tags: must be an object, not a list"]],
    [
      "__proto__ as a key",
      spec({ tags: JSON.parse('{"__proto__": "x"}') }),
      ["allocation.tags.__proto__: is not usable as a key"],
    ],
    [
      "a long list",
      spec({ command: Array(MAX_ITEMS + 1).fill("x") }),
      [`allocation.command: has ${MAX_ITEMS + 1} items; at most ${MAX_ITEMS}`],
    ],
    [
      "two at once",
      spec({ name: 1, project: false }),
      [
        'allocation.name: must be a string, not the number 1 | Write "1" in quotes.',
        "allocation.project: must be a string, not false",
      ],
    ],
  ])("refuses %s", async (_what, run, lines) => {
    const problem = await refusal(run);
    expect(problem.code).toBe("invalid_argument");
    expect(fieldLines(problem)).toEqual(lines);
  });

  test("a date is its first moment", () => {
    const read = (at: string) => fromJson(pb.EventSchema, { at }).at;
    expect(read("2026-03-01")).toEqual(read("2026-03-01T00:00:00Z"));
  });

  test("an invalid instant and invalid bytes are named", async () => {
    expect(fieldLines(await refusal(() => fromJson(pb.EventSchema, { at: "2026-13-01" })))[0]).toContain("RFC 3339");
    expect(fieldLines(await refusal(() => fromJson(pb.EventSchema, { at: "yesterday" })))[0]).toContain("RFC 3339");
    expect(fieldLines(await refusal(() => fromJson(pb.LogChunkSchema, { data: "a?b" })))).toEqual([
      "data: must be base64",
    ]);
  });

  test("a hostile body gets a short response", async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`zzzzz${i}`, 1]));
    const problem = await refusal(spec(many));
    expect(problem.fields).toHaveLength(20);
    expect(problem.detail).toContain("5000 fields");
    const long = await refusal(spec({ ["x".repeat(100_000)]: 1 }));
    expect(JSON.stringify(long).length).toBeLessThan(2000);
    expect((await refusal(spec({ "a\u0000\u001b[31m": 1 }))).fields[0]?.field).not.toContain("\u001b");
  });

  test("names get a path prefix", async () => {
    const problem = await refusal(() => fromJson(pb.QuotaSchema, { max_nodes: -1 }, "tenants[3].quota"));
    expect(problem.fields[0]?.field).toBe("tenants[3].quota.max_nodes");
  });
});
