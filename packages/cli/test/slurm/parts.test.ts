// Parsers and formatters of the Slurm commands: getopt, host lists, durations and instants, output patterns, prepared
// batch scripts, and the site's names.

import { spawnSync } from "node:child_process";
import { compressHosts, expandHostlist } from "@lattice/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexText } from "../../src/output/index-ranges.ts";
import { checkCompat, compatOf } from "../../src/settings/compat-file.ts";
import { prepareScript } from "../../src/slurm/batch-script.ts";
import { type Grammar, parseCommandLine } from "../../src/slurm/command-line.ts";
import { outputPath } from "../../src/slurm/output-file.ts";
import { SlurmError } from "../../src/slurm/slurm-error.ts";
import { fullSpan, parseInstant, shortSpan } from "../../src/slurm/times.ts";

const GRAMMAR: Grammar = {
  program: "sx",
  rules: [
    { long: "nodes", short: "N", value: "required" },
    { long: "noheader", short: "h" },
    { long: "exclusive", value: "optional" },
  ],
};

describe("command line", () => {
  test.each<[string, unknown]>([
    ["-N4", [["nodes", "4"]]],
    ["-N 4", [["nodes", "4"]]],
    ["--nodes=4", [["nodes", "4"]]],
    ["--nodes 4", [["nodes", "4"]]],
    ["--nod 4", [["nodes", "4"]]],
    [
      "-hN4",
      [
        ["noheader", null],
        ["nodes", "4"],
      ],
    ],
    ["--exclusive", [["exclusive", null]]],
    ["--exclusive=user", [["exclusive", "user"]]],
  ])("%s", (line, expected) => {
    const { given, operands } = parseCommandLine(GRAMMAR, line.split(" "));
    expect(given.map(({ name, value }) => [name, value])).toEqual(expected);
    expect(operands).toEqual([]);
  });

  test("operands are mixed with options, or end them", () => {
    expect(parseCommandLine(GRAMMAR, ["a", "-h", "b", "--", "-h"]).operands).toEqual(["a", "b", "-h"]);
    const stops = parseCommandLine({ ...GRAMMAR, stopsAtOperand: true }, ["-h", "a", "-h", "--nodes"]);
    expect(stops).toMatchObject({ operands: ["a", "-h", "--nodes"], given: [{ name: "noheader" }] });
  });

  test.each([
    ["--what", "sx: unrecognized option '--what'"],
    ["-z", "sx: invalid option -- 'z'"],
    ["-N", "sx: option requires an argument -- 'N'"],
    ["--nodes", "sx: option '--nodes' requires an argument"],
    ["--noheader=1", "sx: option '--noheader' doesn't allow an argument"],
    ["--no", "sx: option '--no' is ambiguous; possibilities: '--nodes' '--noheader'"],
  ])("%s is refused", (word, text) => {
    expect(() => parseCommandLine(GRAMMAR, [word])).toThrow(SlurmError);
    expect(() => parseCommandLine(GRAMMAR, [word])).toThrow(text);
  });
});

describe("host lists", () => {
  test.each([
    [["n1", "n2", "n3"], "n[1-3]"],
    [["n1", "n2", "n4", "n7"], "n[1-2,4,7]"],
    [["nid001", "nid002", "x"], "nid[001-002],x"],
    [["n9", "n10"], "n[9-10]"],
    [["a1"], "a1"],
    [[], ""],
  ])("%j", (names, text) => {
    expect(compressHosts(names)).toBe(text);
  });

  test("a compressed list expands to the same names", () => {
    const name = fc
      .tuple(fc.constantFrom("n", "gpu-", "r1c"), fc.integer({ min: 0, max: 99 }), fc.boolean())
      .map(([prefix, number, padded]) => `${prefix}${padded ? String(number).padStart(4, "0") : number}`);
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 30 }), (names) => {
        expect((expandHostlist(compressHosts(names)) ?? []).toSorted()).toEqual(names.toSorted());
      }),
    );
  });

  test("long index lists are cut as in Slurm", () => {
    expect(indexText([5, 6, 7, 9])).toBe("5-7,9");
    expect(indexText([1, 3, 5, 7, 9, 11, 13])).toBe("1-13:2");
    expect(indexText([5, 7, 9])).toBe("5,7,9");
    const text = indexText(Array.from({ length: 100 }, (_, n) => n * n));
    expect(text.length).toBeLessThanOrEqual(67);
    expect(text).toMatch(/,\.\.\.$/);
  });
});

test("durations are formatted as in Slurm", () => {
  expect([0, 5, 65, 3_605, 180_245].map(shortSpan)).toEqual(["0:00", "0:05", "1:05", "1:00:05", "2-02:04:05"]);
  expect([0, 65, 180_245].map(fullSpan)).toEqual(["00:00:00", "00:01:05", "2-02:04:05"]);
});

test("instants are parsed in Slurm's notations", () => {
  const now = new Date(2026, 10, 15, 12, 0, 0).getTime();
  expect(parseInstant("now-2hours", now)).toBe(now - 7_200_000);
  expect(parseInstant("today", now)).toBe(new Date(2026, 10, 15).getTime());
  expect(parseInstant("2026-11-14", now)).toBe(new Date(2026, 10, 14).getTime());
  expect(parseInstant("2026-11-14T10:30", now)).toBe(new Date(2026, 10, 14, 10, 30).getTime());
  expect(parseInstant("10:30", now)).toBe(new Date(2026, 10, 15, 10, 30).getTime());
  expect(parseInstant("noon", now)).toBe(now);
  expect(parseInstant("11/14", now)).toBe(new Date(2026, 10, 14).getTime());
  expect(parseInstant("03/01/25-09:05", now)).toBe(new Date(2025, 2, 1, 9, 5).getTime());
  expect(parseInstant("13/40", now)).toBeNull();
  expect(parseInstant("some day", now)).toBeNull();
});

test("output patterns are filled in", () => {
  const element = { id: "46_3", state: "completed", user: "me", nodes: ["n1"], spec: { name: "arr" } } as const;
  expect(outputPath("logs/%x-%A_%4a.out", element, "/home/me")).toBe("/home/me/logs/arr-46_0003.out");
  expect(outputPath("/tmp/%u.%N.100%%", element, "/home/me")).toBe("/tmp/me.n1.100%");
});

describe("a prepared script", () => {
  const bin = "/opt/it's";
  test("has one line below the interpreter line, with quoted arguments", () => {
    const { text } = prepareScript("#!/bin/bash\n#SBATCH -N1\necho $1\n", { args: ["a b", "it's"], bin, many: false });
    expect(text.split("\n")).toEqual([
      "#!/bin/bash",
      `PATH='/opt/it'\\''s':"$PATH"; set -- 'a b' 'it'\\''s'`,
      "#SBATCH -N1",
      "echo $1",
      "",
    ]);
  });

  test("waits on all nodes but the first", () => {
    expect(prepareScript("#!/bin/sh\n./x\n", { args: [], bin: "/opt/bin", many: true }).text).toContain(
      "exec '/opt/bin/srun' --wait-for-batch-end",
    );
  });

  test("signals itself before the end, from a process that is not its child", () => {
    const made = (signal: string, from: string | undefined) =>
      prepareScript("#!/bin/sh\nwhile :; do sleep 0.1; done\n", { args: [], bin: from, many: false, signal });
    const { text, signals } = made("B:USR1@30", undefined);
    expect(signals).toBe(true);
    // The end is in the past, so the signal comes at once; nothing else would end this script.
    const done = spawnSync("sh", ["-c", text], { env: { PATH: process.env.PATH, SLURM_JOB_END_TIME: "1" } });
    expect(done.signal).toBe("SIGUSR1");
    expect(made("USR2", "/opt/bin").text).toContain("'/opt/bin/scancel' -s USR2");
    expect(made("USR2", undefined).signals).toBe(false);
    expect(() => made("B:what is this", undefined)).toThrow("Invalid --signal specification");
  });

  test("needs an interpreter line", () => {
    expect(() => prepareScript("echo", { args: [], bin, many: false })).toThrow("does not look like a batch script");
  });
});

describe("the site's names", () => {
  test("partitions and QoS map both ways", () => {
    const compat = compatOf(
      checkCompat({ partition_mapping: { normal: "hpc", long: "hpc" }, qos_mapping: { Urgent: 9 } }, "f"),
    );
    expect([compat.vclusterOf("long"), compat.vclusterOf("other")]).toEqual(["hpc", "other"]);
    expect([compat.partitionOf("hpc"), compat.partitionOf("ml")]).toEqual(["normal", "ml"]);
    expect([compat.qosOf(9), compat.qosOf(10), compat.qosOf(3)]).toEqual(["urgent", "urgent", "class3"]);
    expect([compatOf({}).qosOf(5), compatOf({}).qosOf(8)]).toEqual(["normal", "high"]);
  });

  test.each<[unknown, string]>([
    [{ partitions: {} }, 'unknown key "partitions"'],
    [[], "must hold name: value lines"],
    [{ partition_mapping: { a: 1 } }, 'partition "a" must name a vCluster'],
    [{ account_mapping: { a: "" } }, 'account "a" must name a tenant'],
    [{ account_mapping: ["a"] }, "account_mapping must hold name: value lines"],
    [{ qos_mapping: { a: "high" } }, 'QoS "a" must be a preemption class'],
  ])("%j is refused", (document, text) => {
    expect(() => checkCompat(document, "compat.yaml")).toThrow(text);
  });
});
