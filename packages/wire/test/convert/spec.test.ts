// Specs to the core and back: defaults, units, and features that are refused by name.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { checkSpec, duration, minimalSpec, type VClusterId } from "@lattice/core";
import { describe, expect, test } from "vitest";
import { fromJson, normaliseSubmission, pb, specFromProto, specToProto } from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

const defaults = { tenant: "default", vcluster: "hpc-batch", defaultWalltimeMs: () => 7_200_000 };
const make = (init: MessageInitShape<typeof pb.AllocationSpecSchema>) =>
  specFromProto(create(pb.AllocationSpecSchema, { entrypoint: "true", ...init }), defaults);

describe("specFromProto", () => {
  test("fills in every default", () => {
    const lifecycle = { walltime: duration(7_200_000), requeuePolicy: "on_node_failure", maxRequeue: 3 } as const;
    expect(make({})).toEqual(minimalSpec({ vcluster: "hpc-batch" as VClusterId, lifecycle }));
    expect(checkSpec(make({}))).toEqual([]);
  });

  test("an unbounded allocation has no walltime and is always requeued", () => {
    const { lifecycle } = make({ lifecycle: { type: pb.LifecycleType.UNBOUNDED } });
    expect(lifecycle).toMatchObject({ kind: "unbounded", walltime: null, requeuePolicy: "always" });
  });

  test("class 0 and max_requeue 0 are kept, a range stays a range, GiB become bytes", () => {
    const spec = make({
      lifecycle: { preemptionClass: 0, maxRequeue: 0, walltimeSeconds: 60 },
      resources: { nodes: { min: 2, max: 4 }, constraints: { memoryGb: 1.5, topology: pb.Topology.TIGHT } },
    });
    expect(spec.lifecycle).toMatchObject({ preemptionClass: 0, maxRequeue: 0, walltime: 60_000 });
    expect(spec.resources).toMatchObject({
      minNodes: 2,
      maxNodes: 4,
      constraints: { memoryBytes: 1_610_612_736, topology: "tight" },
    });
  });

  test("half a range is completed; an explicit zero is refused by the core", () => {
    expect(make({ resources: { nodes: { min: 3 } } }).resources).toMatchObject({ minNodes: 3, maxNodes: 3 });
    expect(make({ resources: { nodes: { max: 3 } } }).resources).toMatchObject({ minNodes: 1, maxNodes: 3 });
    const none = checkSpec(make({ resources: { nodes: {} } })).map(({ field }) => field);
    expect(none).toContain("allocation.resources.nodes.min");
  });

  test("a reactive service starts with its minimum and the default windows", async () => {
    const type = pb.LifecycleType.REACTIVE;
    const scalePolicy = { min: 2, max: 5, metric: "cpu_utilization", target: "80%" };
    const spec = make({ lifecycle: { type, scalePolicy } });
    expect(checkSpec(spec)).toEqual([]);
    expect(spec.resources).toMatchObject({ minNodes: 2, maxNodes: 2 });
    expect(spec.lifecycle).toMatchObject({
      kind: "reactive",
      walltime: null,
      requeuePolicy: "always",
      scale: { maxNodes: 5, targetMilli: 800, upWindow: 120_000, downWindow: 300_000, cooldown: 180_000 },
    });
    expect(specToProto(spec).lifecycle?.scalePolicy).toMatchObject({ min: 2, max: 5, target: "0.8" });
    const targets = ["250ms", "100", "1.5", "2m"].map(
      (target) => make({ lifecycle: { type, scalePolicy: { ...scalePolicy, target } } }).lifecycle.scale?.targetMilli,
    );
    expect(targets).toEqual([250, 100_000, 1_500, 120_000]);
    for (const wrong of [
      { lifecycle: { type, scalePolicy: { ...scalePolicy, target: "much" } } },
      { lifecycle: { scalePolicy } },
      { lifecycle: { type, scalePolicy }, resources: { nodes: { min: 7, max: 7 } } },
    ])
      expect((await refusal(() => make(wrong))).code).toBe("invalid_argument");
    expect(checkSpec(make({ lifecycle: { type } })).map(({ field }) => field)).toEqual([
      "allocation.lifecycle.scale_policy",
    ]);
  });

  test.each<[string, MessageInitShape<typeof pb.AllocationSpecSchema>]>([["sensitive", { sensitive: true }]])(
    "rejects %s as unsupported",
    async (field, init) => {
      const problem = await refusal(() => make(init));
      expect(problem.code).toBe("unsupported_feature");
      expect(fieldLines(problem)).toEqual([`allocation.${field}: is not supported by this version`]);
    },
  );

  test("topology constraints survive a round trip", () => {
    const flags = { requireConformance: true, requireUnifiedMemory: true, preferSameNuma: true, allowCxlMemory: true };
    const spec = make({ resources: { constraints: flags } });
    expect(spec.resources.constraints).toMatchObject(flags);
    expect(specToProto(spec).resources?.constraints).toMatchObject(flags);
    expect(Object.keys(make({}).resources.constraints)).not.toContain("requireConformance");
    const stored = make({ resources: { constraints: { storageMbPerSecond: 400 } } });
    expect(stored.resources.constraints.storageMBps).toBe(400);
    expect(specToProto(stored).resources?.constraints?.storageMbPerSecond).toBe(400);
  });

  test("software and mounts survive a round trip, and unset ones stay unset", () => {
    const environment = { uenv: "a/1:v1", view: "default", toolsUenv: "t/1:v1", signRequired: true };
    const mount = { source: "/data/x", target: "/data/input", tierHint: "hot" };
    const spec = make({ environment, data: { mounts: [mount] }, resources: { constraints: { memoryPolicy: "BIND" } } });
    expect(spec.environment).toEqual({ variables: {}, workdir: "", ...environment });
    expect(spec.mounts).toEqual([{ ...mount, access: "read-only" }]);
    expect(spec.resources.constraints.memoryPolicy).toBe("bind");
    const back = specToProto(spec);
    expect(back.environment).toMatchObject(environment);
    expect(back.data?.mounts).toMatchObject([{ ...mount, access: "read-only" }]);
    expect(Object.keys(make({}).environment)).toEqual(["variables", "workdir"]);
    expect(make({})).not.toHaveProperty("mounts");
  });

  test("output, scratch and defaults survive a round trip", () => {
    const data = { output: "s3://{tenant}/{project}/{allocation_id}/", scratchPerNode: "0.5TB", defaults: true };
    const spec = make({ data });
    expect(spec.data).toEqual({ output: data.output, scratchBytes: 5e11, defaults: true });
    expect(specToProto(spec).data).toMatchObject({ ...data, scratchPerNode: "500GB", mounts: [] });
    expect(make({ data: {} })).not.toHaveProperty("data");
    expect(checkSpec(make({ data: { scratchPerNode: "64gib" } }))).toEqual([]);
    expect(specToProto(make({ data: { scratchPerNode: "64gib" } })).data?.scratchPerNode).toBe("64GiB");
  });

  test.each(["500", "much", "-1GB", "1e3GB", "GB", "1PB"])("refuses scratch of %s", async (scratchPerNode) => {
    const problem = await refusal(() => make({ data: { scratchPerNode } }));
    expect(fieldLines(problem)[0]).toMatch(/^allocation.data.scratch_per_node: must be an amount such as 500GB/);
  });

  test("an unknown access mode is refused", async () => {
    const problem = await refusal(() =>
      make({ data: { mounts: [{ source: "/a", target: "/data", access: "most" }] } }),
    );
    expect(fieldLines(problem)).toEqual(["allocation.data.mounts[0].access: must be read-only or read-write"]);
  });

  test("all unsupported features are named together, and empty ones pass", async () => {
    const problem = await refusal(() => make({ sensitive: true }));
    expect(problem.fields).toHaveLength(1);
    expect(() => make({ checkpoint: { strategy: "none" }, telemetry: {}, data: {}, connectivity: {} })).not.toThrow();
    expect(make({ intent: "train" }).intent).toBe("train");
  });

  test.each<[string, MessageInitShape<typeof pb.AllocationSpecSchema>, string]>([
    ["a bad tenant", { tenant: "a b" }, "allocation.tenant: is not a valid name"],
    ["unicode in a tenant", { tenant: "физика" }, "allocation.tenant: is not a valid name"],
    ["a bad vCluster", { vcluster: "../x" }, "allocation.vcluster: is not a valid name"],
    ["nothing to run", { entrypoint: "" }, "allocation.entrypoint: must be given"],
    ["two things to run", { command: ["a"] }, "allocation.command: cannot be combined with entrypoint"],
    [
      "negative memory",
      { resources: { constraints: { memoryGb: -1 } } },
      "allocation.resources.constraints.memory_gb: must be a number of GiB, 0 or more",
    ],
    [
      "memory that is no number",
      { resources: { constraints: { memoryGb: Number.NaN } } },
      "allocation.resources.constraints.memory_gb: must be a number of GiB, 0 or more",
    ],
    [
      "a bad node",
      { resources: { constraints: { requiredNodes: ["ok", "a b"] } } },
      "allocation.resources.constraints.required_nodes[1]: is not a valid name",
    ],
    [
      "an unbounded walltime",
      { lifecycle: { type: pb.LifecycleType.UNBOUNDED, walltimeSeconds: 5 } },
      "allocation.lifecycle.walltime_seconds: does not go with an unbounded lifecycle",
    ],
  ])("refuses %s", async (_what, init, line) => {
    const problem = await refusal(() => make(init));
    expect(problem.code).toBe("invalid_argument");
    expect(fieldLines(problem)[0]).toContain(line);
  });

  test("no tenant anywhere is refused", async () => {
    const none = { ...defaults, tenant: "" };
    const spec = create(pb.AllocationSpecSchema, { entrypoint: "x" });
    expect(fieldLines(await refusal(() => specFromProto(spec, none)))).toEqual(["allocation.tenant: must be given"]);
  });

  test("unicode in names and NUL in scripts reach the core's check as they are", () => {
    expect(checkSpec(make({ name: "训练 🚀" }))).toEqual([]);
    const nul = checkSpec(make({ entrypoint: "", script: "a\0b" }));
    expect(nul.map(({ field }) => field)).toEqual(["allocation.script"]);
  });
});

describe("specToProto", () => {
  test.each([
    {
      entrypoint: "x",
      nodes: "2-4",
      walltime: "90m",
      constraints: "gpu_type=A,gpu_count=2,memory_gb>=64,nvme",
      env: { A: "1" },
    },
    { command: ["a", "b"], service: true, requeue: false, name: "n", tags: { a: "b" }, workdir: "/w" },
    { script: "#!/bin/sh\n", topology: "tight", required_nodes: ["n1"], priority: "low", slurm_env: true },
  ])("is the inverse of specFromProto (%#)", (input) => {
    const { request } = normaliseSubmission(input);
    const spec = specFromProto(fromJson(pb.AllocationSpecSchema, request.allocation), defaults);
    expect(specFromProto(specToProto(spec), defaults)).toEqual(spec);
  });
});
