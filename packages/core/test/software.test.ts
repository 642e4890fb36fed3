// The images, mounts, variables and data of a submission: accepted and refused values.

import { checkSpec, type Environment, firstOverlap, type Mount, parseUenvs } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { spec, submit } from "./support/cluster.ts";

const faults = (environment: Partial<Environment>, mounts: readonly Mount[] = []): string[] => {
  const base = spec();
  const changed = { ...base, environment: { ...base.environment, ...environment }, mounts };
  return checkSpec(changed).map(({ field, detail }) => `${field.replace("allocation.", "")}: ${detail}`);
};
const mount = (target: string, source = "/data"): Mount => ({ source, target, access: "read-only", tierHint: "" });

describe("images", () => {
  it.each([
    { uenv: "prgenv-gnu/24.11:v1" },
    { uenv: "prgenv-gnu/24.11:v1,netcdf/1:v2:/opt/netcdf", view: "default,netcdf:modules" },
    { uenv: `a/1:v1@sha256:${"a".repeat(64)}`, toolsUenv: "profiling/2024.1" },
    { image: "registry.example.com:5000/hpc/app:1.2" },
    { image: `hpc/app@sha256:${"0".repeat(64)}`, readOnly: true },
  ])("are accepted: %j", (environment) => expect(faults(environment)).toEqual([]));

  it.each<[Partial<Environment>, RegExp]>([
    [{ uenv: "../etc" }, /^environment.uenv: must be name/],
    [{ uenv: "a b" }, /^environment.uenv: must be name/],
    [{ uenv: "a:/etc" }, /^environment.uenv: must lie under/],
    [{ uenv: "a:/opt/x,b:/opt/x/y" }, /^environment.uenv: has mount points that overlap/],
    [{ uenv: Array.from({ length: 9 }, (_, i) => `i${i}`).join() }, /^environment.uenv: at most 8/],
    [{ uenv: "a", image: "b" }, /^environment.image: does not go together/],
    [{ view: "default" }, /^environment.view: needs a uenv/],
    [{ uenv: "a", view: "a b" }, /^environment.view: names views/],
    [{ image: "--privileged" }, /^environment.image: is not the name/],
    [{ image: "a;rm" }, /^environment.image: is not the name/],
    [{ toolsUenv: "a,b" }, /^environment.tools_uenv: must be name/],
  ])("are refused: %j", (environment, words) => expect(faults(environment)[0]).toMatch(words));
});

describe("mounts", () => {
  it("accept absolute paths, and the documented protocols", () => {
    const sources = ["/home/ada", "file:///data/x", "nfs://home/{user}", "s3://training-data/imagenet"];
    expect(
      faults(
        {},
        sources.map((source, i) => mount(`/data/${i}`, source)),
      ),
    ).toEqual([]);
  });
  it.each([
    ["/data/../etc", "must not contain . or .."],
    ["/data/./x", "must not contain . or .."],
    ["data", "must be an absolute path"],
    ["", "must be an absolute path"],
    ["/data/", "must not end in / or contain //"],
    ["/etc", "must lie under one of"],
    ["/", "must not end in / or contain //"],
    ["/dataset", "must lie under one of"],
    ["/data/a,b", "must not contain commas"],
  ])("are refused with the target %j", (target, words) => {
    const [first] = faults({}, [mount(target)]);
    expect(first).toContain(`data.mounts[0].target: ${words}`);
  });
  it.each(["are refused with the source %j", "ftp://x/y", "/a/../b", ""])("refuses the source %j", (source) => {
    expect(faults({}, [mount("/data/x", source)])[0]).toMatch(/^data.mounts\[0\].source/);
  });
  it("are refused when they overlap or are too many", () => {
    expect(faults({}, [mount("/data/a"), mount("/data/a/b")])).toEqual([
      "data.mounts[1].target: overlaps with that of another mount",
    ]);
    expect(
      faults(
        {},
        Array.from({ length: 65 }, (_, i) => mount(`/data/${i}`)),
      )[0],
    ).toContain("more than 64");
    expect(firstOverlap(["/a/b", "/a/bc"])).toBeNull();
  });
});

it("an environment of ten thousand variables is refused with the limit", () => {
  const variables = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`V${i}`, "x"]));
  expect(faults({ variables })).toEqual(["environment.variables: must not have more than 1024"]);
});

it("a list of uenvs is parsed into names and mount points", () => {
  expect(parseUenvs("a/1:v1:/opt/a,b")).toEqual([
    { name: "a/1:v1", mount: "/opt/a" },
    { name: "b", mount: "" },
  ]);
});

it.each<[string, object, string | null]>([
  ["a path", { output: "/data/{user}/{allocation_id}" }, null],
  ["a bucket", { output: "s3://{tenant}/{project}/{allocation_id}/" }, null],
  ["a relative path", { output: "here" }, "data.output: must be an absolute path, or begin with file:// or s3://"],
  ["an export", { output: "nfs://filer/x" }, "data.output: must be an absolute path, or begin with file:// or s3://"],
  ["a way out", { output: "/data/../etc" }, "data.output: must not contain .."],
  ["a comma", { output: "/data/a,b" }, "data.output: must not contain commas, colons or line ends"],
  ["no scratch", { scratchBytes: 0 }, "data.scratch_per_node: must be more than nothing and at most 1 PB"],
  ["too much scratch", { scratchBytes: 1.1e15 }, "data.scratch_per_node: must be more than nothing and at most 1 PB"],
  ["a part of a byte", { scratchBytes: 1.5 }, "data.scratch_per_node: must be more than nothing and at most 1 PB"],
])("output and scratch: %s", (_, data, fault) => {
  const command = submit();
  if (command.kind !== "allocation.submit") throw new Error("not a submission");
  const found = checkSpec({ ...command.spec, data }).map(({ field, detail }) => `${field}: ${detail}`);
  expect(found).toEqual(fault === null ? [] : [`allocation.${fault}`]);
});
