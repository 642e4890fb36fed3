// Ports, probes, network domains, output files and dependencies of a specification: accepted values, and the field of
// each wrong one.

import { type AllocationSpec, checkSpec, duration, type LivenessProbe, type OutputFiles } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { spec } from "../../support/cluster.ts";

const fields = (change: Partial<AllocationSpec>): readonly string[] =>
  checkSpec({ ...spec(), ...change }).map(({ field }) => field);

describe("an exposed port", () => {
  const EXPOSE = "allocation.connectivity.expose";

  it.each<NonNullable<AllocationSpec["expose"]>>([
    [],
    [{ name: "", port: 1 }],
    [{ name: "web", port: 65_535, protocol: "https" }],
    [
      { name: "a", port: 80, protocol: "tcp" },
      { name: "a", port: 81, protocol: "udp" },
    ],
  ])("may be %j", (...expose) => {
    expect(fields({ expose })).toEqual([]);
  });

  it.each<[string, NonNullable<AllocationSpec["expose"]>]>([
    [`${EXPOSE}[0].port`, [{ name: "", port: 0 }]],
    [`${EXPOSE}[0].port`, [{ name: "", port: 65_536 }]],
    [`${EXPOSE}[0].port`, [{ name: "", port: 80.5 }]],
    [`${EXPOSE}[0].name`, [{ name: "x".repeat(257), port: 80 }]],
    [`${EXPOSE}[0].protocol`, [{ name: "", port: 80, protocol: "ftp" }]],
    [
      `${EXPOSE}[1].port`,
      [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    ],
  ])("names %s when it is wrong: %j", (field, expose) => {
    expect(fields({ expose })).toEqual([field]);
  });

  it("is one of at most 64", () => {
    const ports = (count: number) => Array.from({ length: count }, (_, n) => ({ name: "", port: n + 1 }));
    expect(fields({ expose: ports(64) })).toEqual([]);
    expect(fields({ expose: ports(65) })).toEqual([EXPOSE]);
  });
});

describe("a liveness probe", () => {
  const probe = (change: Partial<LivenessProbe> = {}): Partial<AllocationSpec> => ({
    probe: {
      kind: "http",
      port: 80,
      path: "/health",
      period: duration(1000),
      initialDelay: duration(0),
      failureThreshold: 3,
      timeout: duration(1000),
      ...change,
    },
  });

  it.each<Partial<LivenessProbe>>([
    {},
    { kind: "tcp", path: "" },
    { path: "/a?b=c&d=%20" },
    { failureThreshold: 1 },
    { failureThreshold: 1000 },
    { period: duration(86_400_000), timeout: duration(86_400_000), initialDelay: duration(86_400_000) },
  ])("may be %j", (change) => {
    expect(fields(probe(change))).toEqual([]);
  });

  it.each<[string, Partial<LivenessProbe>]>([
    ["port", { port: 0 }],
    ["path", { path: "health" }],
    ["path", { path: "/a b" }],
    ["path", { path: "/é" }],
    ["path", { path: `/${"x".repeat(2048)}` }],
    ["path", { kind: "tcp", path: "\0" }],
    ["period_secs", { period: duration(0) }],
    ["period_secs", { period: duration(86_400_001) }],
    ["timeout_secs", { timeout: duration(0) }],
    ["initial_delay_secs", { initialDelay: duration(86_400_001) }],
    ["failure_threshold", { failureThreshold: 0 }],
    ["failure_threshold", { failureThreshold: 1001 }],
  ])("names %s when it is wrong: %j", (name, change) => {
    expect(fields(probe(change))).toContain(`allocation.liveness_probe.${name}`);
  });
});

describe("the name of a network domain", () => {
  it.each(["a", "blue", "team-1.net_2", "x".repeat(63), "alloc", "sensitive", "my-alloc-1"])(
    "may be %j",
    (networkDomain) => {
      expect(fields({ networkDomain })).toEqual([]);
    },
  );

  it.each(["", "-a", "a-", "a b", "a/b", "x".repeat(64), "alloc-1", "sensitive-ada-1"])(
    "may not be %j",
    (networkDomain) => {
      expect(fields({ networkDomain })).toEqual(["allocation.connectivity.network_domain"]);
    },
  );
});

describe("the output files", () => {
  const output = (files: OutputFiles, workdir = ""): readonly string[] =>
    fields({ output: files, environment: { variables: {}, workdir } });

  it("are absolute, or relative to a working directory", () => {
    expect(output({ file: "/tmp/%j.out" })).toEqual([]);
    expect(output({ file: "out", errorFile: "err" }, "/tmp")).toEqual([]);
    expect(output({ file: "out", errorFile: "err" })).toEqual([
      "allocation.output.file",
      "allocation.output.error_file",
    ]);
    expect(output({ file: "/out", errorFile: "err" })).toEqual(["allocation.output.error_file"]);
  });

  it("are one line of bounded length", () => {
    expect(output({ file: "" })).toEqual(["allocation.output.file"]);
    expect(output({ file: "/a\nb" })).toEqual(["allocation.output.file"]);
    expect(output({ file: "/a", errorFile: "/b\r" })).toEqual(["allocation.output.error_file"]);
    expect(output({ file: `/${"x".repeat(1023)}` })).toEqual([]);
    expect(output({ file: `/${"x".repeat(1024)}` })).toEqual(["allocation.output.file"]);
  });
});

describe("the data of a specification", () => {
  it.each(["/data/out", "file:///data/out", "s3://bucket/path"])("may go to %s", (target) => {
    expect(fields({ data: { output: target } })).toEqual([]);
  });

  it.each(["", "data", "ftp://x/y", "s3://", "/a/../b", "/a:b", "/a,b", "/a\nb", "/a\0"])(
    "may not go to %j",
    (target) => {
      expect(fields({ data: { output: target } })).toContain("allocation.data.output");
    },
  );
});

describe("the dependencies of a specification", () => {
  it("have a condition and a reference", () => {
    const wrong = [
      { ref: "", condition: "success" },
      { ref: "1", condition: "later" },
      { ref: "a\0", condition: "mutex" },
    ] as unknown as AllocationSpec["dependsOn"];
    expect(fields({ ...(wrong === undefined ? {} : { dependsOn: wrong }) })).toEqual([
      "allocation.depends_on[0].ref",
      "allocation.depends_on[1].condition",
      "allocation.depends_on[2].ref",
    ]);
  });

  it("name a mutex once, and other work as often as there are conditions", () => {
    const twice = (condition: "mutex" | "any") => ({
      dependsOn: [
        { ref: "1", condition },
        { ref: "1", condition },
      ],
    });
    expect(fields(twice("mutex"))).toEqual(["allocation.depends_on[1].ref"]);
    expect(fields(twice("any"))).toEqual([]);
  });
});

describe("telemetry", () => {
  it("has one of three modes", () => {
    for (const mode of ["prod", "debug", "audit"] as const) {
      expect(fields({ telemetry: { mode, until: null } })).toEqual([]);
    }
    expect(fields({ telemetry: { mode: "loud" as never, until: null } })).toEqual(["allocation.telemetry.mode"]);
  });
});
