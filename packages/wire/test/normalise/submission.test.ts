// Every way to write a submission, and every way to get it wrong.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normaliseSubmission, parseBody, submissionFromJson } from "../../src/index.ts";
import { FIELDS } from "../../src/normalise/fields.ts";
import { fieldLines, refusal } from "../refusal.ts";

const spec = (input: unknown) => normaliseSubmission(input).request.allocation;

describe("normaliseSubmission", () => {
  test.each<[string, object, object]>([
    ["a count", { nodes: 4 }, { resources: { nodes: { min: 4, max: 4 } } }],
    ["a range object", { nodes: { min: 2, max: 4 } }, { resources: { nodes: { min: 2, max: 4 } } }],
    ["a range in text", { nodes: "2-4" }, { resources: { nodes: { min: 2, max: 4 } } }],
    ["a count in text", { nodes: "3" }, { resources: { nodes: { min: 3, max: 3 } } }],
    ["a nested count", { resources: { nodes: 64 } }, { resources: { nodes: { min: 64, max: 64 } } }],
    ["walltime", { walltime: "72h" }, { lifecycle: { walltime_seconds: 259_200 } }],
    ["walltime_hours", { walltime_hours: 1.5 }, { lifecycle: { walltime_seconds: 5_400 } }],
    [
      "a nested walltime",
      { lifecycle: { type: "bounded", walltime: "2h" } },
      { lifecycle: { type: "bounded", walltime_seconds: 7_200 } },
    ],
    [
      "environment",
      { uenv: "a/1:v1", view: "default", env: { A: "1" }, workdir: "/x" },
      { environment: { uenv: "a/1:v1", view: "default", variables: { A: "1" }, workdir: "/x" } },
    ],
    ["variables", { variables: { A: "1" } }, { environment: { variables: { A: "1" } } }],
    [
      "constraints as text",
      { constraints: "gpu_type=GH200,gpu_count=4" },
      { resources: { constraints: { gpu_type: "GH200", gpu_count: 4 } } },
    ],
    [
      "constraints with a colon",
      { constraints: "gpu_type:GH200" },
      { resources: { constraints: { gpu_type: "GH200" } } },
    ],
    [
      "bandwidth of storage",
      { constraint: "storage_mb_per_second=500" },
      { resources: { constraints: { storage_mb_per_second: 500 } } },
    ],
    ["a least amount", { constraint: "memory_gb>=512" }, { resources: { constraints: { memory_gb: 512 } } }],
    [
      "a flag and features",
      { constraints: ["require_unified_memory", "nvme&ib"] },
      { resources: { constraints: { require_unified_memory: true, features: ["nvme", "ib"] } } },
    ],
    [
      "features from two places",
      { features: ["a", "b"], constraints: "b,c" },
      { resources: { constraints: { features: ["a", "b", "c"] } } },
    ],
    [
      "flat constraints",
      { gpu_count: 2, topology: "tight", memory_gb: 1.5 },
      { resources: { constraints: { gpu_count: 2, topology: "tight", memory_gb: 1.5 } } },
    ],
    ["priority", { priority: "high" }, { lifecycle: { preemption_class: 8 } }],
    ["a class", { preemption_class: 0 }, { lifecycle: { preemption_class: 0 } }],
    [
      "requeue",
      { requeue: true, max_requeue: 1 },
      { lifecycle: { requeue_policy: "on_node_failure", max_requeue: 1 } },
    ],
    ["no requeue", { requeue: false }, { lifecycle: { requeue_policy: "never" } }],
    ["a service", { service: true }, { lifecycle: { type: "unbounded" } }],
    ["no service", { service: false }, {}],
    ["checkpoint as a word", { checkpoint: "none" }, { checkpoint: { strategy: "none" } }],
    ["checkpoint as an object", { checkpoint: { strategy: "auto" } }, { checkpoint: { strategy: "auto" } }],
    [
      "dependencies",
      { depends_on: [{ ref: "1", condition: "any" }, { train: "success" }, "7"] },
      {
        depends_on: [
          { ref: "1", condition: "any" },
          { ref: "train", condition: "success" },
          { ref: "7", condition: "success" },
        ],
      },
    ],
    [
      "dependencies as text",
      { depends_on: "1:success,2:any" },
      {
        depends_on: [
          { ref: "1", condition: "success" },
          { ref: "2", condition: "any" },
        ],
      },
    ],
    [
      "what passes through",
      { tenant: "t", vcluster: "v", name: "n", project: "p", tags: { a: "b" }, command: ["a", "b"] },
      { tenant: "t", vcluster: "v", name: "n", project: "p", tags: { a: "b" }, command: ["a", "b"] },
    ],
    ["null", { nodes: null, name: "x" }, { name: "x" }],
  ])("%s", (_what, input, full) => {
    expect(spec(input)).toEqual(full);
    expect(spec({ allocation: input })).toEqual(full);
  });

  test("keeps the request id, wrapped or not", () => {
    expect(normaliseSubmission({ name: "a", request_id: "r" }).request).toEqual({
      allocation: { name: "a" },
      request_id: "r",
    });
    expect(normaliseSubmission({ allocation: { name: "a" }, request_id: "r" }).request.request_id).toBe("r");
  });

  test("the documented request, as YAML", async () => {
    const yaml = `
allocation:
  tenant: "ml-team"
  tags: { experiment: "run-42" }
  entrypoint: "torchrun --nproc_per_node=4 train.py"
  resources:
    nodes: 64
    constraints: { gpu_type: "GH200", features: ["nvme_scratch"], topology: "tight" }
  lifecycle: { type: "bounded", walltime: "72h", preemption_class: 2 }
`;
    const { request } = submissionFromJson(await parseBody("application/yaml", yaml));
    expect(request.allocation).toMatchObject({
      tenant: "ml-team",
      resources: { nodes: { min: 64, max: 64 }, constraints: { features: ["nvme_scratch"], topology: 2 } },
      lifecycle: { type: 1, walltimeSeconds: 259_200, preemptionClass: 2 },
    });
  });

  test("normalising the full form changes nothing", () => {
    const inputs = fc.record(
      {
        nodes: fc.oneof(fc.integer({ min: 1, max: 99 }), fc.constant("2-4"), fc.constant({ min: 1, max: 3 })),
        walltime: fc.constantFrom("72h", "1-00:00:00"),
        constraints: fc.constantFrom("gpu_type=A,nvme", { gpu_count: 4 }),
        env: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
        checkpoint: fc.constant("none"),
        depends_on: fc.constant("1:any"),
        request_id: fc.string(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(inputs, (input) => {
        const once = normaliseSubmission(input).request;
        expect(normaliseSubmission(once).request).toEqual(once);
      }),
      { numRuns: 100 },
    );
  });

  test.each<[string, unknown, string[]]>([
    ["no object", "x", ["body: must be an object, not a string"]],
    ["an allocation that is none", { allocation: [1] }, ["allocation: must be an object, not a list"]],
    ["an unknown field", { node: 4 }, ['node: is not a known field | Did you mean "nodes"?']],
    [
      "an unknown wrapped field",
      { allocation: { wall_time: "1h" } },
      ['allocation.wall_time: is not a known field | Did you mean "walltime"?'],
    ],
    [
      "an unknown nested field",
      { resources: { nods: 4 } },
      ['resources.nods: is not a known field | Did you mean "nodes"?'],
    ],
    [
      "a field beside allocation",
      { allocation: {}, nodes: 4 },
      ["nodes: is outside allocation | Put it inside allocation."],
    ],
    [
      "request_id misspelt",
      { allocation: {}, requestid: "x" },
      ['requestid: is not a known field | Did you mean "request_id"?'],
    ],
    [
      "short and full together",
      { nodes: 4, resources: { nodes: 4 } },
      ["resources.nodes: has the same meaning as nodes | Keep one of nodes and resources.nodes."],
    ],
    [
      "two walltimes",
      { walltime: "1h", walltime_hours: 1 },
      ["walltime_hours: has the same meaning as walltime | Keep one of walltime and walltime_hours."],
    ],
    [
      "env and variables",
      { env: {}, variables: {} },
      ["variables: has the same meaning as env | Keep one of env and variables."],
    ],
    [
      "priority and class",
      { priority: "low", preemption_class: 1 },
      ["preemption_class: has the same meaning as priority | Keep one of priority and preemption_class."],
    ],
    [
      "a constraint twice",
      { gpu_count: 1, constraints: "gpu_count=2" },
      ["constraints: has the same meaning as gpu_count | Keep one of gpu_count and constraints."],
    ],
    [
      "a walltime number",
      { walltime: 3600 },
      ['walltime: must be a string, not the number 3600 | Write "72h", or use walltime_seconds.'],
    ],
    [
      "negative hours",
      { walltime_hours: -1 },
      ["walltime_hours: must be at least one second | Give a number above 0."],
    ],
    [
      "an unknown priority",
      { priority: "urgentest" },
      ["priority: must be low, normal or high | Use preemption_class for a number from 0 to 10."],
    ],
    [
      "an inherited priority",
      { priority: "constructor" },
      ["priority: must be low, normal or high | Use preemption_class for a number from 0 to 10."],
    ],
    ["a number for text", { uenv: 5 }, ['uenv: must be a string, not the number 5 | Write "5" in quotes.']],
    ["a wrong tag", { tags: { a: 1 } }, ['tags.a: must be a string, not the number 1 | Write "1" in quotes.']],
    [
      "a wrong item",
      { features: ["a", 5] },
      ['features[1]: must be a string, not the number 5 | Write "5" in quotes.'],
    ],
    [
      "a wrong wrapped type",
      { allocation: { env: { A: 1 } } },
      ['allocation.env.A: must be a string, not the number 1 | Write "1" in quotes.'],
    ],
    ["a negative class", { preemption_class: -1 }, ["preemption_class: must be between 0 and 4294967295, not -1"]],
    [
      "an unknown constraint",
      { constraints: "gpu_typ=A" },
      ['constraints: "gpu_typ" is not a known constraint | Did you mean "gpu_type"?'],
    ],
    [
      "a most amount",
      { constraints: "memory_gb<=5" },
      ['constraints: "memory_gb" can only be a least amount | Write "memory_gb>=N".'],
    ],
    ["a comparison of text", { constraints: "gpu_type>=A" }, ['constraints: "gpu_type" takes "=", not ">="']],
    ["no number", { constraints: "gpu_count=many" }, ['constraints: "gpu_count" needs a number, 0 or more']],
    [
      "a dotted name",
      { environment: JSON.parse('{"__proto__.polluted": 1, "a.b": 2}') },
      ["environment.__proto__.polluted: is not a known field", "environment.a.b: is not a known field"],
    ],
    [
      "inherited nested names",
      { lifecycle: JSON.parse('{"constructor": 1, "toString": 2}') },
      ["lifecycle.constructor: is not a known field", "lifecycle.toString: is not a known field"],
    ],
  ])("refuses %s", async (_what, input, lines) => {
    const problem = await refusal(() => submissionFromJson(input));
    expect(problem.code).toBe("invalid_argument");
    expect(fieldLines(problem)).toEqual(lines);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each([0, -3, 1.5, 1e12, "many", "4-2", "-1", true, [4], Number.NaN])("refuses %j nodes", async (nodes) => {
    expect((await refusal(() => normaliseSubmission({ nodes }))).fields[0]?.field).toBe("nodes");
  });

  test.each([
    ["dag", { dag: { allocations: [] } }, "dag"],
    ["allocations", { name: "p", allocations: [] }, "allocations"],
  ])("reports %s as unsupported", async (_what, input, field) => {
    expect(await refusal(() => normaliseSubmission(input))).toMatchObject({
      code: "unsupported_feature",
      fields: [{ field }],
    });
  });

  test("any input is normalised or refused", () => {
    const key = fc.constantFrom(...FIELDS.keys(), "allocation", "request_id", "__proto__", "constructor", "x");
    fc.assert(
      fc.property(fc.object({ key, maxDepth: 4 }), (input) => {
        try {
          submissionFromJson(input);
        } catch (error) {
          expect(error).toHaveProperty("problem.status", 400);
        }
      }),
      { numRuns: 500 },
    );
  });
});
