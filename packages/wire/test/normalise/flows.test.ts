// Task groups, dependencies and whole workflows in every form that people write them in.

import {
  dagFromJson,
  normaliseDag,
  normaliseSubmission,
  parseScript,
  shapeFromProto,
  shapeToProto,
  submissionFromJson,
} from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { fieldLines, refusal } from "../refusal.ts";

const groupOf = (input: object) =>
  (normaliseSubmission(input).request.allocation as { task_group?: unknown }).task_group;

describe("task groups", () => {
  test.each([
    ["0-99", { start: 0, end: 99 }],
    ["0-99:2", { start: 0, end: 99, step: 2 }],
    ["0-99%20", { start: 0, end: 99, concurrency: 20 }],
    ["5-99:2%20", { start: 5, end: 99, step: 2, concurrency: 20 }],
    ["7", { start: 7, end: 7 }],
  ])("%s is a range", (text, shape) => {
    expect(groupOf({ entrypoint: "x", task_group: text })).toEqual(shape);
    expect(groupOf({ entrypoint: "x", task_group: shape })).toEqual(shape);
  });

  test("the separate fields have the same meaning", () => {
    const { request } = normaliseSubmission({
      allocation: {
        type: "task_group",
        template: { entrypoint: "x", resources: { nodes: 2 }, lifecycle: { type: "bounded", walltime: "4h" } },
        range: { start: 0, end: 99 },
        concurrency: 20,
      },
    });
    expect(request.allocation).toMatchObject({
      entrypoint: "x",
      resources: { nodes: { min: 2, max: 2 } },
      lifecycle: { type: "bounded", walltime_seconds: 14_400 },
      task_group: { start: 0, end: 99, concurrency: 20 },
    });
  });

  test.each([
    ["1,3,5-7%2", { indexes: "1,3,5-7", concurrency: 2 }],
    ["7,5,6", { start: 5, end: 7 }],
    ["9,1-5:2,9", { indexes: "1,3,5,9" }],
    ["0-8:2,1-3", { indexes: "0-4,6,8" }],
    ["0-8:4,20", { indexes: "0-8:4,20" }],
  ])("%s is a list of indexes", (text, group) => {
    expect(normaliseSubmission({ entrypoint: "x", task_group: text }).request.allocation).toMatchObject({
      task_group: group,
    });
  });

  test("a list sets start and end; conflicting ones are refused", async () => {
    const written = submissionFromJson({ entrypoint: "x", task_group: "1,3,5-7%2" }).request.allocation?.taskGroup;
    if (written === undefined) throw new Error("no task group");
    const shape = shapeFromProto(written);
    expect(shape).toMatchObject({ range: { start: 1, end: 7, step: 1 }, concurrency: 2 });
    const reported = shapeToProto(shape);
    expect(reported).toMatchObject({ start: 1, end: 7, indexes: "1,3,5-7", concurrency: 2 });
    expect(shapeFromProto(reported)).toEqual(shape);
    const problem = await refusal(() => shapeFromProto({ ...reported, end: 9 }));
    expect(problem.fields[0]).toMatchObject({ field: "allocation.task_group.indexes" });
    const none = await refusal(() => shapeFromProto({ ...reported, indexes: "1,,2" }));
    expect(none.fields[0]?.detail).toContain("is not an index");
  });

  test.each(["1,", ",1", "1,3-2", "1,2:0", "1 2", "1;2", "1,2%3%4"])("the list %j is refused", async (text) => {
    const problem = await refusal(() => normaliseSubmission({ entrypoint: "x", task_group: text }));
    expect(problem.fields[0]?.field).toBe("task_group");
  });

  test("a list has a limit", async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => n * 2).join(",");
    const problem = await refusal(() => normaliseSubmission({ entrypoint: "x", task_group: many }));
    expect(problem.fields[0]?.detail).toContain("1001 ranges; the limit is 1000");
    const overlapping = await refusal(() => normaliseSubmission({ entrypoint: "x", task_group: "0-900000,5" }));
    expect(overlapping.fields[0]?.detail).toContain("names indexes twice");
  });

  test.each(["", "a", "1-", "-3", "1-2-3", "1:2:3", "0-9%", "0-9999999999"])("%j is refused", async (text) => {
    const problem = await refusal(() => normaliseSubmission({ entrypoint: "x", task_group: text }));
    expect(problem.fields[0]?.field).toBe("task_group");
  });

  test("an explicit step of zero is kept, for the core to refuse", () => {
    const { request } = submissionFromJson({ entrypoint: "x", task_group: "0-9:0" });
    expect(request.allocation?.taskGroup).toMatchObject({ start: 0, end: 9, step: 0 });
    expect(submissionFromJson({ entrypoint: "x", task_group: "0-9" }).request.allocation?.taskGroup?.step).toBe(
      undefined,
    );
  });
});

describe("Slurm's words", () => {
  const output = (...lines: string[]) => parseScript(["#!/bin/sh", ...lines, "true"].join("\n")).submission;
  test("arrays and dependencies", () => {
    expect(output("#SBATCH --array=0-99%20")).toMatchObject({ task_group: { start: 0, end: 99, concurrency: 20 } });
    expect(output("#SBATCH -d afterok:12:13,afterany:14_3,singleton", "#SBATCH -J sweep").depends_on).toEqual([
      { ref: "12", condition: "success" },
      { ref: "13", condition: "success" },
      { ref: "14_3", condition: "any" },
      { ref: "sweep", condition: "mutex" },
    ]);
  });
  test.each(["#SBATCH -d after:12", "#SBATCH -d afterok:12?afterok:13"])("%s is refused", async (line) => {
    expect((await refusal(() => output(line))).code).toBe("unsupported_feature");
  });
});

const GUIDE = {
  name: "training-pipeline",
  allocations: [
    { name: "preprocess", entrypoint: "python preprocess.py", nodes: 2, walltime: "2h" },
    { name: "train", entrypoint: "torchrun train.py", nodes: 64, depends_on: [{ preprocess: "success" }] },
    { name: "notify", entrypoint: "python notify.py", depends_on: [{ ref: "train", condition: "failure" }] },
  ],
};

describe("workflows", () => {
  test("the guide's document, alone and wrapped, with id for name", () => {
    const { request } = dagFromJson(GUIDE);
    expect(
      request.allocations.map(({ name, dependsOn }) => [name, dependsOn.map((d) => `${d.ref}:${d.condition}`)]),
    ).toEqual([
      ["preprocess", []],
      ["train", ["preprocess:success"]],
      ["notify", ["train:failure"]],
    ]);
    const wrapped = {
      dag: { ...GUIDE, allocations: GUIDE.allocations.map(({ name, ...rest }) => ({ id: name, ...rest })) },
    };
    expect(normaliseDag(wrapped).request).toEqual(normaliseDag(GUIDE).request);
    const again = normaliseDag(normaliseDag(GUIDE).request).request;
    expect(again).toEqual(normaliseDag(GUIDE).request);
  });

  test("tenant and vCluster apply to members without their own", () => {
    const { request } = normaliseDag({ tenant: "physics", allocations: [{ name: "a", entrypoint: "x" }] });
    expect(request.allocations).toMatchObject([{ tenant: "physics", name: "a" }]);
  });

  test.each<[unknown, string]>([
    [[], "body: must be an object, not a list"],
    [{ name: "x" }, "allocations: must be a list of allocations"],
    [{ allocations: [3] }, "allocations[0]: must be an object, not the number 3"],
    [{ allocations: [{ name: "a", entrypont: "x" }] }, "allocations[0].entrypont: is not a known field"],
    [{ allocations: [{ name: "a", id: "a" }] }, "allocations[0].id: has the same meaning as name"],
    [{ allocation: [] }, "allocation: is not a known field"],
  ])("%j is refused by name", async (input, line) => {
    const problem = await refusal(() => dagFromJson(input));
    expect(fieldLines(problem)[0]).toContain(line);
  });
});
