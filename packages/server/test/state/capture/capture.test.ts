// The captured trace: its lines while leading, a crash in the middle of a line, and an unwritable file.

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_LENDING, minimalSpec, NO_CONSTRAINTS, UNLIMITED } from "@lattice/core";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { startCapture } from "../../../src/state/capture/capture.ts";
import type { Replica } from "../../../src/state/replica/replica.ts";
import { type MemoryPlane, memoryPlane } from "../../api/memory-plane.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-capture-"));
const path = join(dir, "trace.jsonl");
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

/** Entries of the plane as in the replica's feed. */
function feedOf(plane: MemoryPlane) {
  const listeners = new Set<(events: never) => void>();
  const { apply } = plane;
  const told: typeof apply = (...commands) => {
    const applied = apply(...commands);
    const events = applied.events.map((event, n) => ({ cursor: { index: applied.index, n }, at: applied.at, event }));
    for (const listener of listeners) listener(events as never);
    return applied;
  };
  const replica = {
    view: plane.view(),
    feed: {
      onEvents: (listener: (events: never) => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  } as unknown as Replica;
  return { replica, apply: told };
}

test("a trace has everything that decides where and when work starts", async () => {
  const plane = memoryPlane();
  plane.addNode("n1");
  const { replica, apply } = feedOf(plane);
  const whole = join(dir, "whole.jsonl");
  mkdirSync(dir, { recursive: true });
  const count = (): void => {};
  const capture = startCapture({ path: whole, replica, leads: () => true, logger: pino({ level: "silent" }), count });
  const origin = { user: "ada" as never, requestId: null, bodyHash: "" };
  const change = { preempts: true, borrows: false, lending: { ...DEFAULT_LENDING, keepNodes: 2 } };
  apply({ kind: "vcluster.update", origin, vcluster: "hpc-batch" as never, change });
  const constraints = {
    ...NO_CONSTRAINTS,
    requiredNodes: ["n1" as never],
    requireConformance: true,
    requireUnifiedMemory: true,
    preferSameNuma: true,
    allowCxlMemory: true,
    maxGroups: 3,
    storageMBps: 70,
  };
  const resources = { minNodes: 1, maxNodes: 4, constraints };
  const spec = minimalSpec({ tenant: "team" as never, vcluster: "hpc-batch" as never, resources });
  apply({ kind: "allocation.submit", origin, createTenant: true, spec });
  await capture.close();
  const lines = readFileSync(whole, "utf8").trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { type: string; vcluster?: object; alloc?: object });
  expect(records.findLast(({ type }) => type === "vcluster")?.vcluster).toMatchObject({
    preempts: true,
    borrows: false,
    lending: { keep_nodes: 2, max_class: 4, max_duration: null, return_grace: "30s" },
  });
  expect(records.find(({ type }) => type === "submit")?.alloc).toMatchObject({
    nodes: { min: 1, max: 4 },
    required_nodes: ["n1"],
    require_conformance: true,
    require_unified_memory: true,
    prefer_same_numa: true,
    allow_cxl_memory: true,
    max_groups: 3,
    storage_mb_per_second: 70,
  });
});

test("a trace has the cluster, submissions and ends, restarts after a crash, and fails when not writable", async () => {
  const plane = memoryPlane();
  plane.addNode("n1");
  const { replica, apply } = feedOf(plane);
  const counts: string[] = [];
  const options = {
    path,
    replica,
    logger: pino({ level: "silent" }),
    count: (result: string, lines: number) => void counts.push(`${result} ${lines}`),
  };
  let leading = false;
  const first = startCapture({ ...options, leads: () => leading });
  const submit = {
    kind: "allocation.submit" as const,
    origin: { user: "ada" as never, requestId: null, bodyHash: "" },
    createTenant: true,
    spec: minimalSpec({
      tenant: "team" as never,
      vcluster: "hpc-batch" as never,
      resources: {
        constraints: { ...NO_CONSTRAINTS, memoryBytes: 2 ** 30, cpuCores: 2, excludedNodes: ["n9" as never] },
      },
      lifecycle: { noPreempt: true },
    }),
  };
  apply(submit);
  expect(counts).toEqual([]);
  leading = true;
  apply(submit);
  apply({ kind: "allocation.cancel", origin: submit.origin, id: "1" as never, reason: "" });
  await first.close();
  const written = readFileSync(path, "utf8");
  const types = written
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(["vcluster", "node", "tenant", "tenant", "submit", "submit", "submit", "complete"]);

  const asked = { memory_gb: 1, cpu_cores: 2, excluded_nodes: ["n9"], no_preempt: true, user: "ada", tenant: "team" };
  expect(JSON.parse(written.split("\n")[4] ?? "")).toMatchObject({ type: "submit", alloc: asked });

  appendFileSync(path, '{"ts":"2026-01-01T00:00:00Z","type":"sub');
  const quota = { ...UNLIMITED, maxNodes: 8, fairShareMilli: 250 };
  const second = startCapture({ ...options, leads: () => true });
  apply({ kind: "tenant.update", origin: submit.origin, tenant: "team" as never, change: { quota } });
  // A change without effect on the trace adds no line.
  apply({ kind: "tenant.update", origin: submit.origin, tenant: "team" as never, change: { description: "x" } });
  apply(submit);
  await second.close();
  const lines = readFileSync(path, "utf8").trim().split("\n");
  const tenants = lines.map((line) => JSON.parse(line) as { tenant?: { name: string } });
  expect(tenants.filter(({ tenant }) => tenant?.name === "team").map(({ tenant }) => tenant)).toEqual([
    { name: "team" },
    { name: "team", max_nodes: 8, fair_share_target: 0.25 },
  ]);
  expect(lines.slice(0, types.length).join("\n")).toBe(written.trim());
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();

  // A full file is followed by another, which begins with the cluster; a restart continues the newest.
  const full = join(dir, "full.jsonl");
  const third = startCapture({ ...options, path: full, maxBytes: 1, leads: () => true });
  apply(submit);
  await third.close();
  const fourth = startCapture({ ...options, path: full, leads: () => true });
  apply(submit);
  await fourth.close();
  const kinds = (name: string): string[] =>
    readFileSync(join(dir, name), "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(kinds("full.jsonl").at(-1)).toBe("submit");
  expect(kinds("full.2.jsonl").filter((type) => type === "vcluster")).toHaveLength(2);
  expect(kinds("full.2.jsonl").length).toBeGreaterThan(kinds("full.jsonl").length);

  expect(() => startCapture({ ...options, path: join(dir, "nowhere", "t.jsonl"), leads: () => true })).toThrow(
    /ENOENT/,
  );
});
