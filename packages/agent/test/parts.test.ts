// The small parts by themselves: tail, mounts, retention, heartbeat timer, logger, amounts, command line.

import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createLogger } from "../src/base/logger.ts";
import { controlGroupMounts } from "../src/host/isolation/detect.ts";
import { heartbeatTimer } from "../src/link/heartbeat-timer.ts";
import { hundredths } from "../src/link/messages.ts";
import { tailOffset } from "../src/logs/tail.ts";
import { pendingWrites, RETRY_AFTER_MS } from "../src/node/pending-writes.ts";
import { commandLine, parseOptions } from "../src/options/options.ts";
import { retention } from "../src/runtime/attempt/retention.ts";
import { found } from "./fake-server.ts";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-agent-parts-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

test("tail returns the last lines of any text", async () => {
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
  test("v1 with v2", () => {
    const text = [
      "32 31 0:29 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids",
      "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer",
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
    ].join("\n");
    expect(controlGroupMounts(text)).toEqual({ v2: "/sys/fs/cgroup/unified", v1: "/sys/fs/cgroup/freezer" });
  });
  test("none", () => expect(controlGroupMounts("")).toEqual({ v2: null, v1: null }));
});

test("retention removes the oldest by count and bytes, and never the newest", async () => {
  const folder = join(dir, "ended");
  const make = (key: string, bytes: number): void => {
    mkdirSync(join(folder, key), { recursive: true });
    writeFileSync(join(folder, key, "stdout"), "x".repeat(bytes));
  };
  const dropped: string[] = [];
  const options = {
    folder,
    limits: { attempts: 3, bytes: 100 },
    remove: async (key: string) => rmSync(join(folder, key), { recursive: true, maxRetries: 9 }),
    dropped: (key: string) => void dropped.push(key),
  };
  const kept = retention(options);
  for (const key of ["1", "2", "3", "4"]) {
    make(key, 10);
    kept.added(key);
  }
  expect(dropped).toEqual(["1"]);
  make("5", 500);
  kept.added("5");
  await found(() => readdirSync(folder).length === 1);
  expect(readdirSync(folder)).toEqual(["5"]);
  expect([kept.has("5"), kept.has("4")]).toEqual([true, false]);
  const again = retention(options);
  await again.load();
  expect(again.has("5")).toBe(true);
});

test("the heartbeat timer calls each member once in each interval, until it leaves", async () => {
  const turning = heartbeatTimer(Math.random);
  const counts = [0, 0, 0];
  const leave = counts.map((_, n) => turning.join(100, () => counts.splice(n, 1, (counts[n] ?? 0) + 1)));
  await found(() => counts.every((count) => count >= 3));
  leave[0]?.();
  const [left] = counts;
  await found(() => (counts[1] ?? 0) >= (left ?? 0) + 3);
  expect(counts[0]).toBe(left);
  turning.close();
});

test("log lines have the shape of the servers' lines", () => {
  const path = join(dir, "log");
  const fd = openSync(path, "w");
  const log = createLogger({ level: "info", node: "n1", fd });
  log.debug("not this");
  log.warn({ attempt: "7.1" }, "look here");
  closeSync(fd);
  const lines = readFileSync(path, "utf8").trim().split("\n");
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] ?? "");
  expect(line).toEqual({ level: "warn", time: line.time, node: "n1", attempt: "7.1", message: "look here" });
  expect(new Date(line.time).toISOString()).toBe(line.time);
});

test.each([
  [23.540000000037253, 23.54],
  [23.549999, 23.54],
  [0.29, 0.29],
  [4.35, 4.35],
  [512, 512],
  [0.009, 0],
])("%d GB are reported as %d", (found, reported) => expect(hundredths(found)).toBe(reported));

test("a failed write is retried until it succeeds, the newest of each kind", () => {
  vi.useFakeTimers();
  const reported: string[] = [];
  const debts = pendingWrites((key) => reported.push(key));
  const stop = (message: string) =>
    ({ kind: "remember_stop", stop: { cause: "stopped", message, killAtMs: 1 } }) as const;
  expect(debts.add("1.1", stop("a"))).toBe(false);
  expect(debts.add("1.1", stop("b"))).toBe(true);
  expect(debts.pending("1.1")).toEqual([stop("b")]);
  vi.advanceTimersByTime(RETRY_AFTER_MS);
  // Told once: another time only when it has failed again.
  vi.advanceTimersByTime(RETRY_AFTER_MS);
  expect(reported).toEqual(["1.1"]);
  debts.add("1.1", stop("b"));
  debts.add("2.1", stop("c"));
  debts.written("1.1", "remember_stop");
  vi.advanceTimersByTime(RETRY_AFTER_MS);
  expect(reported).toEqual(["1.1", "2.1"]);
  debts.add("2.1", stop("c"));
  debts.drop("2.1");
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
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
      parseOptions(
        [...argv, "--gpu-count", "2", "--state-file", "/s"],
        { LATTICE_AGENT_KILL_WORKLOADS_ON_EXIT: "1" },
        "v",
      ),
    ).toMatchObject({
      servers: ["a:1", "b:2"],
      nodeId: "x1",
      stateFile: "/s",
      group: "default",
      hardware: { features: ["f", "g"], gpuCount: 2 },
      killWorkloadsOnExit: true,
      hollow: null,
    });
    expect(parseOptions(["--hollow", "9"], {}, "v").hollow).toMatchObject({ count: 9, prefix: "hollow-" });
  });

  test("every flag is on the page for operators", () => {
    const page = readFileSync(new URL("../../../docs/operating/nodes.md", import.meta.url), "utf8");
    const flags = commandLine("v", undefined).options.map(({ long }) => long ?? "");
    expect(flags.length).toBeGreaterThan(40);
    expect(flags.filter((flag) => flag !== "--version" && !page.includes(`\`${flag}`))).toEqual([]);
  });
  test("--help shows each default once and in words", () => {
    const help = commandLine("v", "none").helpInformation().replaceAll(/\s+/g, " ");
    expect(help).toContain("none, passwd or file:/PATH (default: none)");
    expect(help).toContain("--health-interval <seconds> interval of the check for faults (default: 60)");
    expect(help).not.toMatch(/default: (""|\[\]|false|\{|")|\(default:[^)]*\) \(default/);
  });
});
