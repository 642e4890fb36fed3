// Durations in the forms of Lattice and Slurm, and invalid ones.

import { describe, expect, test } from "vitest";
import { parseSlurmTime, parseWalltime } from "../../src/index.ts";
import { refusal } from "../refusal.ts";

describe("parseWalltime", () => {
  test.each([
    ["72h", 259_200],
    ["90m", 5_400],
    ["1h30m", 5_400],
    ["1h 30m", 5_400],
    ["45s", 45],
    ["2d", 172_800],
    ["1d12h", 129_600],
    ["1.5h", 5_400],
    ["72H", 259_200],
    ["02:30:00", 9_000],
    ["100:00:00", 360_000],
    ["10:30", 630],
    ["1-12:00:00", 129_600],
    ["3-00", 259_200],
    ["1-02:03", 93_780],
  ])("%s is %i seconds", (text, seconds) => {
    expect(parseWalltime(text)).toBe(seconds);
  });

  test.each([
    "",
    "72",
    "h",
    "72x",
    "-5h",
    "1:2:3:4",
    "1:60:00",
    "1-24:00:00",
    "0s",
    "00:00:00",
    "9999999h",
    "1e5h",
    "٣h",
    "1h\u0000",
  ])("refuses %j", async (text) => {
    const problem = await refusal(() => parseWalltime(text, "lifecycle.walltime"));
    expect(problem).toMatchObject({ code: "invalid_argument", fields: [{ field: "lifecycle.walltime" }] });
    expect(problem.hint).toContain("72h");
  });
});

describe("parseSlurmTime", () => {
  test.each([
    ["30", 1_800],
    ["30:15", 1_815],
    ["1:30:00", 5_400],
    ["2-0", 172_800],
    ["2-1:30", 178_200],
    ["2-01:30:15", 178_215],
    ["24h", 86_400],
    ["UNLIMITED", null],
    ["0", null],
  ])("%s is %j seconds", (text, seconds) => {
    expect(parseSlurmTime(text)).toBe(seconds);
  });

  test.each(["", "soon", "1:2:3:4", "-5"])("refuses %j", async (text) => {
    expect((await refusal(() => parseSlurmTime(text))).code).toBe("invalid_argument");
  });
});
