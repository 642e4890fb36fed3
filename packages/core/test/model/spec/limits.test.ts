// The limits of a specification, each at its boundary: the last value that is accepted, and the first that is refused
// with its field named.

import { type AllocationSpec, checkSpec, duration, type Environment, minimalSpec } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { nodeId, spec } from "../../support/cluster.ts";
import { CHECKPOINT, scalePolicy } from "../../support/policies.ts";

const fields = (wanted: AllocationSpec): readonly string[] => checkSpec(wanted).map(({ field }) => field);
const plain = spec();
const withEnvironment = (change: Partial<Environment>): AllocationSpec => ({
  ...plain,
  environment: { ...plain.environment, ...change },
});
const many = (count: number, make: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, n) => make(n));
const tags = (count: number, key = 1, value = 1): AllocationSpec => ({
  ...plain,
  tags: Object.fromEntries(many(count, (n) => `${n}`.padStart(key, "k")).map((name) => [name, "v".repeat(value)])),
});
const variables = (count: number, name = 1, value = 1): AllocationSpec =>
  withEnvironment({
    variables: Object.fromEntries(
      many(count, (n) => `${n}`.padStart(name, "K")).map((key) => [key, "v".repeat(value)]),
    ),
  });
const command = (...words: readonly string[]): AllocationSpec => ({ ...plain, task: { kind: "command", words } });
const constraint = (change: Partial<AllocationSpec["resources"]["constraints"]>): AllocationSpec =>
  spec({ resources: change });
const nodes = (count: number) => many(count, (n) => `n${n}`).map(nodeId);

/** The limited value, its field, the last good value, and the first bad one. */
const LIMITS: readonly (readonly [string, string, AllocationSpec, AllocationSpec])[] = [
  ["name", "allocation.name", { ...plain, name: "x".repeat(256) }, { ...plain, name: "x".repeat(257) }],
  ["project", "allocation.project", { ...plain, project: "x".repeat(256) }, { ...plain, project: "x".repeat(257) }],
  ["intent", "allocation.intent", { ...plain, intent: "x".repeat(1024) }, { ...plain, intent: "x".repeat(1025) }],
  ["tags", "allocation.tags", tags(64), tags(65)],
  ["key of a tag", "allocation.tags", tags(1, 128), tags(1, 129)],
  ["value of a tag", "allocation.tags", tags(1, 1, 1024), tags(1, 1, 1025)],
  [
    "entrypoint",
    "allocation.entrypoint",
    { ...plain, task: { kind: "entrypoint", line: "x".repeat(131_071) } },
    { ...plain, task: { kind: "entrypoint", line: "x".repeat(131_072) } },
  ],
  [
    "script",
    "allocation.script",
    { ...plain, task: { kind: "script", text: "x".repeat(1_048_576) } },
    { ...plain, task: { kind: "script", text: "x".repeat(1_048_577) } },
  ],
  ["words", "allocation.command", command(...many(4096, () => "x")), command(...many(4097, () => "x"))],
  ["one word", "allocation.command", command("x".repeat(131_071)), command("x".repeat(131_072))],
  [
    "all words together",
    "allocation.command",
    command(...many(8, () => "x".repeat(131_071)), "x".repeat(8)),
    command(...many(8, () => "x".repeat(131_071)), "x".repeat(9)),
  ],
  ["variables", "allocation.environment.variables", variables(1024), variables(1025)],
  ["name of a variable", "allocation.environment.variables", variables(1, 256), variables(1, 257)],
  ["value of a variable", "allocation.environment.variables", variables(1, 1, 131_071), variables(1, 1, 131_072)],
  [
    "working directory",
    "allocation.environment.workdir",
    withEnvironment({ workdir: `/${"x".repeat(4094)}` }),
    withEnvironment({ workdir: `/${"x".repeat(4095)}` }),
  ],
  ["nodes", "allocation.resources.nodes.max", spec({ nodes: [1, 1_000_000] }), spec({ nodes: [1, 1_000_001] })],
  [
    "tasks per node",
    "allocation.resources.tasks_per_node",
    { ...plain, resources: { ...plain.resources, tasksPerNode: 100_000 } },
    { ...plain, resources: { ...plain.resources, tasksPerNode: 100_001 } },
  ],
  [
    "GPU type",
    "allocation.resources.constraints.gpu_type",
    constraint({ gpuType: "x".repeat(128) }),
    constraint({ gpuType: "x".repeat(129) }),
  ],
  [
    "GPUs",
    "allocation.resources.constraints.gpu_count",
    constraint({ gpuCount: 1_000_000 }),
    constraint({ gpuCount: 1_000_001 }),
  ],
  [
    "cores",
    "allocation.resources.constraints.cpu_cores",
    constraint({ cpuCores: 1_000_000 }),
    constraint({ cpuCores: 1_000_001 }),
  ],
  [
    "memory",
    "allocation.resources.constraints.memory_gb",
    constraint({ memoryBytes: Number.MAX_SAFE_INTEGER }),
    constraint({ memoryBytes: Number.MAX_SAFE_INTEGER + 1 }),
  ],
  [
    "groups",
    "allocation.resources.constraints.max_groups",
    constraint({ maxGroups: 1_000_000 }),
    constraint({ maxGroups: 1_000_001 }),
  ],
  [
    "least groups",
    "allocation.resources.constraints.max_groups",
    constraint({ maxGroups: 1 }),
    constraint({ maxGroups: 0 }),
  ],
  [
    "storage bandwidth",
    "allocation.resources.constraints.storage_mb_per_second",
    constraint({ storageMBps: 1_000_000_000 }),
    constraint({ storageMBps: 1_000_000_001 }),
  ],
  [
    "features",
    "allocation.resources.constraints.features",
    constraint({ features: many(64, (n) => `f${n}`) }),
    constraint({ features: many(65, (n) => `f${n}`) }),
  ],
  [
    "one feature",
    "allocation.resources.constraints.features",
    constraint({ features: ["x".repeat(128)] }),
    constraint({ features: ["x".repeat(129)] }),
  ],
  [
    "excluded nodes",
    "allocation.resources.constraints.excluded_nodes",
    constraint({ excludedNodes: nodes(10_000) }),
    constraint({ excludedNodes: nodes(10_001) }),
  ],
  [
    "required nodes",
    "allocation.resources.constraints.required_nodes",
    spec({ nodes: 3, resources: { requiredNodes: nodes(3) } }),
    spec({ nodes: 3, resources: { requiredNodes: nodes(4) } }),
  ],
  [
    "walltime",
    "allocation.lifecycle.walltime_seconds",
    spec({ lifecycle: { walltime: duration(315_360_000_000) } }),
    spec({ lifecycle: { walltime: duration(315_360_000_001) } }),
  ],
  [
    "least walltime",
    "allocation.lifecycle.walltime_seconds",
    spec({ lifecycle: { walltime: duration(1) } }),
    spec({ lifecycle: { walltime: duration(0) } }),
  ],
  [
    "preemption class",
    "allocation.lifecycle.preemption_class",
    spec({ lifecycle: { preemptionClass: 10 } }),
    spec({ lifecycle: { preemptionClass: 11 } }),
  ],
  [
    "requeues",
    "allocation.lifecycle.max_requeue",
    spec({ lifecycle: { maxRequeue: 100 } }),
    spec({ lifecycle: { maxRequeue: 101 } }),
  ],
  [
    "dependencies",
    "allocation.depends_on",
    { ...plain, dependsOn: many(1000, (n) => `${n + 1}`).map((ref) => ({ ref, condition: "any" })) },
    { ...plain, dependsOn: many(1001, (n) => `${n + 1}`).map((ref) => ({ ref, condition: "any" })) },
  ],
  [
    "name of a mutex",
    "allocation.depends_on[0].ref",
    { ...plain, dependsOn: [{ ref: "x".repeat(128), condition: "mutex" }] },
    { ...plain, dependsOn: [{ ref: "x".repeat(129), condition: "mutex" }] },
  ],
  [
    "scratch space",
    "allocation.data.scratch_per_node",
    { ...plain, data: { scratchBytes: 1e15 } },
    { ...plain, data: { scratchBytes: 1e15 + 1 } },
  ],
  [
    "least scratch space",
    "allocation.data.scratch_per_node",
    { ...plain, data: { scratchBytes: 1 } },
    { ...plain, data: { scratchBytes: 0 } },
  ],
];

describe("a limit of a specification", () => {
  it.each(LIMITS)("of its %s accepts the last value and refuses the next: %s", (_name, field, good, bad) => {
    expect(fields(good)).toEqual([]);
    expect(fields(bad)).toContain(field);
  });

  it("is reported once, however often it is broken", () => {
    const wanted = command("a", "\0", "\0", "\0");
    expect(checkSpec(wanted)).toEqual([{ field: "allocation.command", detail: "must not contain NUL bytes" }]);
  });

  it("is not the only one: at most 32 problems are listed", () => {
    const dependsOn = many(100, () => "").map((ref) => ({ ref, condition: "never" as never }));
    expect(checkSpec({ ...plain, dependsOn })).toHaveLength(32);
  });
});

describe("the smallest specification", () => {
  it("is accepted", () => {
    expect(checkSpec(minimalSpec())).toEqual([]);
  });
});

describe("a reactive service", () => {
  const reactive = (change: Partial<ReturnType<typeof scalePolicy>> = {}, count = 1): AllocationSpec =>
    spec({
      nodes: count,
      lifecycle: { kind: "reactive", walltime: null, scale: { ...scalePolicy(1, 3), ...change } },
    });
  const field = "allocation.lifecycle.scale_policy";

  it("starts with the minimum number of nodes of its policy", () => {
    expect(fields(reactive())).toEqual([]);
    expect(fields(reactive({}, 2))).toEqual(["allocation.resources.nodes"]);
  });

  it.each<[string, Parameters<typeof reactive>[0]]>([
    [`${field}.min`, { minNodes: 0 }],
    [`${field}.min`, { minNodes: 4 }],
    [`${field}.max`, { maxNodes: 0 }],
    [`${field}.metric`, { metric: " " }],
    [`${field}.metric`, { metric: "rate(x)" }],
    [`${field}.metric`, { metric: "x".repeat(513) }],
    [`${field}.target`, { targetMilli: 0 }],
    [`${field}.target`, { targetMilli: 1_000_000_000_001 }],
    [`${field}.scale_down_threshold`, { downThresholdMilli: 0 }],
    [`${field}.scale_down_threshold`, { downThresholdMilli: 1000 }],
    [`${field}.evaluation_interval_seconds`, { evaluationInterval: duration(999) }],
    [`${field}.scale_up_window_seconds`, { upWindow: duration(7 * 86_400_000 + 1) }],
    [`${field}.scale_down_window_seconds`, { downWindow: duration(7 * 86_400_000 + 1) }],
    [`${field}.cooldown_seconds`, { cooldown: duration(7 * 86_400_000 + 1) }],
  ])("names %s when it is wrong: %j", (wrong, change) => {
    expect(fields(reactive(change))).toContain(wrong);
  });

  it("has a policy, and no other work has one", () => {
    expect(fields(spec({ lifecycle: { kind: "reactive", walltime: null } }))).toEqual([field]);
    expect(fields(spec({ lifecycle: { scale: scalePolicy(1, 3) } }))).toEqual([field]);
  });
});

describe("the checkpoints of a specification", () => {
  const asking = (change: Partial<typeof CHECKPOINT>, lifecycle = {}): AllocationSpec =>
    spec({ checkpoint: { ...CHECKPOINT, ...change }, lifecycle });

  it.each<Partial<typeof CHECKPOINT>>([
    {},
    { mode: "grpc", port: 1 },
    { mode: "grpc", port: 65_535 },
    { mode: "grpc", port: 0 },
    { timeout: duration(1), maxDeferral: duration(0) },
    { timeout: duration(86_400_000), maxDeferral: duration(86_400_000) },
  ])("may be %j", (change) => {
    expect(fields(asking(change))).toEqual([]);
  });

  it.each<[string, Partial<typeof CHECKPOINT>]>([
    ["mode", { mode: "magic" as never }],
    ["port", { port: 80 }],
    ["port", { mode: "grpc", port: 65_536 }],
    ["timeout_seconds", { timeout: duration(0) }],
    ["timeout_seconds", { timeout: duration(86_400_001) }],
    ["max_deferral_seconds", { maxDeferral: duration(86_400_001) }],
  ])("name %s when it is wrong: %j", (name, change) => {
    expect(fields(asking(change))).toEqual([`allocation.checkpoint.${name}`]);
  });

  it("are for bounded work only", () => {
    expect(fields(asking({}, { kind: "unbounded", walltime: null }))).toEqual(["allocation.checkpoint"]);
  });
});
