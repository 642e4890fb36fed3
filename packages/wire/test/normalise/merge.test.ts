// The flags of a caller over the directives of a script, field by field.

import { describe, expect, test } from "vitest";
import { mergeSubmissions, normaliseSubmission } from "../../src/index.ts";

describe("mergeSubmissions", () => {
  test.each([
    ["the caller wins", { nodes: 4, name: "a" }, { nodes: 8 }, { nodes: 8, name: "a" }],
    ["other words for the same give way", { walltime_hours: 2 }, { walltime: "1h" }, { walltime: "1h" }],
    ["a command replaces a script", { script: "x" }, { command: ["y"] }, { command: ["y"] }],
    ["variables merge", { variables: { A: "1", B: "1" } }, { env: { B: "2" } }, { env: { A: "1", B: "2" } }],
    ["tags merge", { tags: { a: "1" } }, { tags: { b: "2" } }, { tags: { a: "1", b: "2" } }],
    [
      "constraints merge one by one",
      { constraints: { gpu_count: 4, features: ["a"] } },
      { constraint: ["gpu_type=GH200", "b"] },
      { constraints: { gpu_count: 4, gpu_type: "GH200", features: ["b"] } },
    ],
    [
      "flat constraints are constraints",
      { constraints: "gpu_count=1" },
      { gpu_count: 2 },
      { constraints: { gpu_count: 2 } },
    ],
    ["null is nothing", { nodes: 1 }, { nodes: null }, { nodes: 1 }],
  ])("%s", (_what, base, override, merged) => {
    expect(mergeSubmissions(base, override)).toEqual(merged);
    expect(() => normaliseSubmission(merged)).not.toThrow();
  });
});
