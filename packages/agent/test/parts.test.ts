// The small parts by themselves: tail, mounts, retention, wheel, command line.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wheel } from "../src/link/wheel.ts";
import { tailOffset } from "../src/logs/tail.ts";
import { parseOptions } from "../src/options.ts";
import { controlGroupMounts } from "../src/runtime/isolation/detect.ts";
import { retention } from "../src/runtime/process/retention.ts";
import { found } from "./fake-server.ts";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-agent-parts-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("the tail of any text is its last lines", async () => {
  const line = fc.string({ unit: fc.constantFrom("a", "\n", "b".repeat(40_000)), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(line, fc.integer({ min: 1, max: 8 }), async (text, lines) => {
      const path = join(dir, "text");
      writeFileSync(path, text);
      const file = await open(path);
      const offset = await tailOffset(file, text.length, lines);
      await file.close();
      const pieces = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      expect(text.slice(offset)).toBe(pieces.slice(-lines).join(""));
    }),
    { numRuns: 100 },
  );
});

describe("control group mounts", () => {
  test("v2 alone", () => {
    const text = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    expect(controlGroupMounts(text)).toEqual({ v2: "/sys/fs/cgroup", v1: null });
  });
  test("v1 with v2 beside it", () => {
    const text = [
      "32 31 0:29 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids",
      "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer",
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
    ].join("\n");
    expect(controlGroupMounts(text)).toEqual({ v2: "/sys/fs/cgroup/unified", v1: "/sys/fs/cgroup/freezer" });
  });
  test("none", () => expect(controlGroupMounts("")).toEqual({ v2: null, v1: null }));
});

test("retention takes the oldest, by count and by bytes, and never the newest", async () => {
  const folder = join(dir, "ended");
  const make = (key: string, bytes: number): void => {
    mkdirSync(join(folder, key), { recursive: true });
    writeFileSync(join(folder, key, "stdout"), "x".repeat(bytes));
  };
  const dropped: string[] = [];
  const kept = retention(folder, { attempts: 3, bytes: 100 }, (key) => dropped.push(key));
  for (const key of ["1", "2", "3", "4"]) {
    make(key, 10);
    await kept.added(key);
  }
  expect(dropped).toEqual(["1"]);
  make("5", 500);
  await kept.added("5");
  await found(() => readdirSync(folder).length === 1);
  expect(readdirSync(folder)).toEqual(["5"]);
  expect([kept.has("5"), kept.has("4")]).toEqual([true, false]);
  const again = retention(folder, { attempts: 3, bytes: 100 }, () => undefined);
  await again.load();
  expect(again.has("5")).toBe(true);
});

test("the wheel calls each member once in each interval, until it leaves", async () => {
  const turning = wheel(Math.random);
  const counts = [0, 0, 0];
  const leave = counts.map((_, n) => turning.join(100, () => counts.splice(n, 1, (counts[n] ?? 0) + 1)));
  await found(() => counts.every((count) => count >= 3));
  leave[0]?.();
  const [left] = counts;
  await found(() => (counts[1] ?? 0) >= (left ?? 0) + 3);
  expect(counts[0]).toBe(left);
  turning.close();
});

describe("the command line", () => {
  test("becomes one checked value", () => {
    const argv = [
      "--server",
      "http://a:1",
      "--quorum-endpoint",
      "b:2",
      "--node-id",
      "x1",
      "--feature",
      "f",
      "--feature",
      "g",
    ];
    expect(
      parseOptions([...argv, "--gpu-count", "2"], { LATTICE_AGENT_KILL_WORKLOADS_ON_EXIT: "1" }, "v"),
    ).toMatchObject({
      servers: ["a:1", "b:2"],
      nodeId: "x1",
      group: "default",
      hardware: { features: ["f", "g"], gpuCount: 2 },
      killWorkloadsOnExit: true,
      hollow: null,
    });
    expect(parseOptions(["--hollow", "9"], {}, "v").hollow).toMatchObject({ count: 9, prefix: "hollow-" });
  });
});
