// Submission, cancellation and update, command by command.

import { applyEntry, checkSpec, createState, duration, InvariantError, VersionTooNewError } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  entryFor,
  id,
  moves,
  origin,
  spec,
  submit,
  tenant,
  vcluster,
  verdict,
} from "./support/cluster.ts";

describe("a submission", () => {
  it("gets the next number from 1, and its place in the queue", () => {
    const c = createCluster();
    const applied = c.apply(submit(), submit());
    expect(applied.outcomes).toEqual([
      { kind: "accepted", id: "1" },
      { kind: "accepted", id: "2" },
    ]);
    expect(moves(applied)).toEqual(["1:  > pending", "2:  > pending"]);
    expect(Array.from(c.state.pending(spec().vcluster), (a) => a.id)).toEqual(["1", "2"]);
  });

  it("creates an unknown tenant only where the configuration allows it", () => {
    const c = createCluster();
    const refused = { ...submit({ tenant: "new" }), createTenant: false } as ReturnType<typeof submit>;
    expect(verdict(c.one(refused))).toBe("unknown_tenant");
    expect(c.state.tenant(spec({ tenant: "new" }).tenant)).toBeUndefined();
    expect(verdict(c.one(submit({ tenant: "new" })))).toBe("accepted");
    const made = c.state.tenant(spec({ tenant: "new" }).tenant);
    expect(made).toMatchObject({ automatic: true, maxPreemptionClass: 10, quota: { maxNodes: null } });
  });

  it("that is refused does not create its tenant", () => {
    const c = createCluster();
    expect(verdict(c.one(submit({ tenant: "new", nodes: 0 })))).toBe("invalid_argument");
    expect(verdict(c.one(submit({ tenant: "not a name" })))).toBe("invalid_argument");
    expect(Array.from(c.state.tenants())).toEqual([]);
  });

  it("for an unknown vCluster is refused with the available names", () => {
    const outcome = createCluster().one(submit({ vcluster: "nowhere" }));
    expect(outcome).toMatchObject({
      refusal: { code: "unknown_vcluster", detail: expect.stringContaining("available: batch") },
    });
  });

  it("to a vCluster is limited to its tenant and its walltime", () => {
    const c = createCluster(
      tenant("physics"),
      vcluster("phys", { tenant: spec().tenant, maxWalltime: duration(60_000) }),
    );
    expect(verdict(c.one(submit({ vcluster: "phys", tenant: "other" })))).toBe("tenant_mismatch");
    const long = c.one(submit({ vcluster: "phys", lifecycle: { walltime: duration(61_000) } }));
    expect(long).toMatchObject({ refusal: { fields: [{ field: "allocation.lifecycle.walltime_seconds" }] } });
    const endless = c.one(submit({ vcluster: "phys", lifecycle: { kind: "unbounded", walltime: null } }));
    expect(verdict(endless)).toBe("invalid_argument");
    expect(verdict(c.one(submit({ vcluster: "phys", lifecycle: { walltime: duration(60_000) } })))).toBe("accepted");
  });

  it("beyond the quota of its tenant is refused with the figures", () => {
    const c = createCluster(tenant("physics", { maxNodes: 200 }), tenant("idle", { maxConcurrentAllocations: 0 }));
    expect(c.one(submit({ nodes: 210 }))).toEqual({
      kind: "rejected",
      refusal: {
        code: "quota_exceeded",
        detail: 'tenant "physics" would exceed its max_nodes quota (limit 200, in use 0, requested 210)',
        figures: { limit: 200, requested: 210, current: 0 },
      },
    });
    expect(verdict(c.one(submit({ nodes: [200, 300] })))).toBe("accepted");
    expect(verdict(c.one(submit({ tenant: "idle" })))).toBe("quota_exceeded");
  });

  it("beyond the tenant's highest class is refused", () => {
    const c = createCluster(tenant("physics", {}, 4));
    const outcome = c.one(submit());
    expect(outcome).toMatchObject({ refusal: { fields: [{ field: "allocation.lifecycle.preemption_class" }] } });
  });
});

describe("checkSpec", () => {
  const faults: readonly [string, ReturnType<typeof spec>][] = [
    ["allocation.tenant", { ...spec(), tenant: "" as never }],
    ["allocation.vcluster", { ...spec(), vcluster: "" as never }],
    ["allocation.name", { ...spec(), name: "x".repeat(257) }],
    ["allocation.name", { ...spec(), name: "a\0b" }],
    ["allocation.project", { ...spec(), project: "\0" }],
    ["allocation.tags", { ...spec(), tags: { "": "x" } }],
    ["allocation.tags", { ...spec(), tags: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"])) }],
    ["allocation.entrypoint", { ...spec(), task: { kind: "entrypoint", line: " " } }],
    ["allocation.command", { ...spec(), task: { kind: "command", words: [] } }],
    ["allocation.command", { ...spec(), task: { kind: "command", words: ["echo", "\0"] } }],
    ["allocation.script", { ...spec(), task: { kind: "script", text: "" } }],
    ["allocation.script", { ...spec(), task: { kind: "script", text: "#!/bin/sh\necho \0" } }],
    ["allocation.script", { ...spec(), task: { kind: "script", text: "x".repeat(1024 * 1024 + 1) } }],
    ["allocation.environment.variables", { ...spec(), environment: { variables: { "A=B": "" }, workdir: "" } }],
    ["allocation.environment.variables", { ...spec(), environment: { variables: { A: "\0" }, workdir: "" } }],
    ["allocation.environment.workdir", { ...spec(), environment: { variables: {}, workdir: "here" } }],
    ["allocation.resources.nodes.min", spec({ nodes: [0, 1] })],
    ["allocation.resources.nodes.min", spec({ nodes: [1.5, 2] })],
    ["allocation.resources.nodes.min", spec({ nodes: [3, 2] })],
    ["allocation.resources.nodes.max", spec({ nodes: [1, 1_000_001] })],
    ["allocation.resources.nodes.max", spec({ nodes: [1, Number.NaN] })],
    ["allocation.resources.constraints.gpu_count", spec({ resources: { gpuCount: -1 } })],
    ["allocation.resources.constraints.memory_gb", spec({ resources: { memoryBytes: 0.5 } })],
    ["allocation.resources.constraints.storage_mb_per_second", spec({ resources: { storageMBps: 0 } })],
    ["allocation.resources.constraints.features", spec({ resources: { features: [""] } })],
    ["allocation.resources.constraints.required_nodes", spec({ resources: { requiredNodes: ["a", "b"] as never } })],
    ["allocation.resources.constraints.required_nodes", spec({ resources: { requiredNodes: ["a b"] as never } })],
    [
      "allocation.resources.constraints.excluded_nodes",
      spec({ resources: { requiredNodes: ["a"] as never, excludedNodes: ["a"] as never } }),
    ],
    ["allocation.lifecycle.walltime_seconds", spec({ lifecycle: { walltime: null } })],
    ["allocation.lifecycle.walltime_seconds", spec({ lifecycle: { walltime: duration(0) } })],
    ["allocation.lifecycle.walltime_seconds", spec({ lifecycle: { walltime: duration(11 * 365 * 86_400_000) } })],
    ["allocation.lifecycle.walltime_seconds", spec({ lifecycle: { kind: "unbounded" } })],
    ["allocation.lifecycle.preemption_class", spec({ lifecycle: { preemptionClass: 11 } })],
    ["allocation.lifecycle.preemption_class", spec({ lifecycle: { preemptionClass: -1 } })],
    ["allocation.lifecycle.max_requeue", spec({ lifecycle: { maxRequeue: 101 } })],
  ];
  it.each(faults)("names %s", (field, bad) => {
    expect(checkSpec(bad).map((problem) => problem.field)).toContain(field);
    const c = createCluster();
    const outcome = c.one({ kind: "allocation.submit", origin: origin(), spec: bad, createTenant: true });
    expect(verdict(outcome)).toBe("invalid_argument");
    expect(c.state.allocationCount).toBe(0);
  });
  it("accepts correct specs", () => {
    expect(checkSpec(spec())).toEqual([]);
    expect(checkSpec(spec({ nodes: [1, 1_000_000], lifecycle: { preemptionClass: 10, maxRequeue: 100 } }))).toEqual([]);
    expect(checkSpec({ ...spec(), task: { kind: "command", words: ["printf", ""] } })).toEqual([]);
  });
  it("lists every fault of a request once, up to a limit", () => {
    const problems = checkSpec({ ...spec({ nodes: [5, 2], lifecycle: { preemptionClass: 99 } }), name: "\0" });
    expect(problems.map((problem) => problem.field)).toEqual([
      "allocation.name",
      "allocation.resources.nodes.min",
      "allocation.lifecycle.preemption_class",
    ]);
  });
});

describe("requests with an id", () => {
  it("get the same answer when repeated, and another request under the id is refused", () => {
    const c = createCluster();
    expect(c.one(submit({}, origin("r1")))).toEqual({ kind: "accepted", id: "1" });
    expect(c.one(submit({}, origin("r1")))).toEqual({ kind: "accepted", id: "1", repeated: true });
    expect(verdict(c.one(submit({}, origin("r1", "other"))))).toBe("request_conflict");
    expect(verdict(c.one({ ...cancel(1), origin: origin("r1") } as ReturnType<typeof cancel>))).toBe(
      "request_conflict",
    );
    expect(c.state.allocationCount).toBe(1);
  });
  it("get the same refusal when repeated", () => {
    const c = createCluster();
    const first = c.one(submit({ vcluster: "later" }, origin("r1")));
    c.apply(vcluster("later"));
    expect(c.one(submit({ vcluster: "later" }, origin("r1")))).toEqual(first);
    expect(c.state.allocationCount).toBe(0);
  });
  it("are forgotten after exactly one day of log time", () => {
    const c = createCluster();
    c.apply(submit({}, origin("r1")));
    c.advance(24 * 3600 * 1000 - 1);
    expect(verdict(c.one(submit({}, origin("r1"))))).toBe("repeated");
    c.advance(1);
    expect(c.one(submit({}, origin("r1")))).toEqual({ kind: "accepted", id: "2" });
    expect(c.state.tables.requests.size).toBe(1);
  });
  it("are refused with an empty id or one that is too long", () => {
    const c = createCluster();
    expect(verdict(c.one(submit({}, origin(""))))).toBe("invalid_argument");
    expect(verdict(c.one(submit({}, origin("x".repeat(257)))))).toBe("invalid_argument");
    expect(c.state.tables.requests.size).toBe(0);
  });
});

describe("entries", () => {
  it("of a version that is too new are refused before any change", () => {
    const state = createState();
    const entry = { ...entryFor(state, 1, [vcluster("a")]), version: 3 };
    expect(() => applyEntry(state, entry)).toThrow(VersionTooNewError);
    expect(() => applyEntry(state, entry)).toThrow(/entry 1 has version 3.*upgrade/);
    expect(state.index).toBe(0);
  });
  it("are applied only in order of index and time", () => {
    const state = createState();
    const entry = entryFor(state, 5, []);
    applyEntry(state, entry);
    expect(() => applyEntry(state, entry)).toThrow(InvariantError);
    expect(() => applyEntry(state, entryFor(state, 4, []))).toThrow(/stamped before/);
    expect(state.allocation(id(1))).toBeUndefined();
  });
});
