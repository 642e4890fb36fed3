// --quiet prints only ids; a pending session leaves the queue when its client is interrupted.

import { expect, test, vi } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const V = "/api/v1";

test("--quiet prints only ids", async () => {
  const allocation = { id: "7", state: "running", spec: {} };
  rig.answers = {
    [`PATCH ${V}/allocations/7`]: [200, { allocation }],
    [`POST ${V}/allocations/7/resume`]: [200, allocation],
    [`GET ${V}/allocations/7`]: [200, allocation],
    [`DELETE ${V}/sessions/7.1`]: [200, { state: "completed" }],
    [`GET ${V}/sessions`]: [200, { sessions: [{ id: "7.1", allocation_id: "7", user: "u", state: "running" }] }],
    [`GET ${V}/dags/dag-1`]: [200, { id: "dag-1", state: "running" }],
    [`GET ${V}/tenants/art`]: [200, { id: "art" }],
    [`POST ${V}/admin/backup`]: [200, { source: "/b/1" }],
    [`POST ${V}/admin/backup/verify`]: [200, { ok: true, backup: { source: "/b/1" } }],
    [`POST ${V}/admin/restore`]: [200, { log_index: "9" }],
    [`GET ${V}/raft/status`]: [200, { leader: "server-1", members: [{ id: "server-1" }] }],
    [`GET ${V}/nodes/n1/condition`]: [200, { node: "n1" }],
  };
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ["7", ["update", "-q", "7", "--name=x"]],
    ["7", ["resume", "-q", "7"]],
    ["7", ["status", "-q", "7"]],
    ["7", ["telemetry", "-q", "7", "--mode=debug"]],
    ["7.1", ["session", "end", "-q", "7.1"]],
    ["7.1", ["session", "list", "-q"]],
    ["dag-1", ["dag", "status", "-q", "dag-1"]],
    ["art", ["admin", "tenant", "show", "-q", "art"]],
    ["/b/1", ["admin", "backup", "create", "-q"]],
    ["/b/1", ["admin", "backup", "verify", "-q"]],
    ["/b/1", ["admin", "restore", "/b/1", "-q"]],
    ["server-1", ["admin", "raft", "status", "-q"]],
    ["n1", ["node", "condition", "n1", "-q"]],
  ];
  for (const [id, words] of lines) {
    rig.out = "";
    expect(await rig.run(...words), words.join(" ")).toBe(0);
    expect(rig.out, words.join(" ")).toBe(`${id}\n`);
  }
  expect(rig.err).toBe("");
});

test("an empty note prints no line", async () => {
  const series = [{ metric: "memory_used", unit: "bytes", points: [{ at: "2026-11-15T12:00:00Z", value: 1e6 }] }];
  rig.answers = { [`GET ${V}/allocations/7/metrics?mode=summary`]: [200, { series, unavailable_reason: "" }] };
  expect(await rig.run("top", "7"), rig.err).toBe(0);
  expect([rig.out.includes("memory_used"), rig.err]).toEqual([true, ""]);
});

test("a session takes no flags of batch work", async () => {
  expect(await rig.run("session", "--help")).toBe(0);
  expect(rig.out).toContain("--walltime");
  expect(rig.out).not.toMatch(/--(task-group|reactive|output-file|scale-metric|checkpoint)\b/);
  expect(await rig.run("session", "--walltime=1h", "--task-group=0-3")).toBe(2);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)("%s cancels a pending session", async (signal, status) => {
  rig.answers = {
    [`POST ${V}/sessions`]: [200, { session_id: "9.1", allocation_id: "9", state: "pending" }],
    [`GET ${V}/sessions/9.1`]: [200, { id: "9.1", allocation_id: "9", state: "pending" }],
    [`DELETE ${V}/sessions/9.1`]: [200, { state: "cancelled" }],
  };
  rig.requests.length = 0;
  const running = rig.run("session", "--walltime=1h");
  await vi.waitFor(() => expect(rig.requests).toContain(`GET ${V}/sessions/9.1`), { timeout: 60_000 });
  process.emit(signal, signal);
  expect(await running).toBe(status);
  expect(rig.requests.at(-1)).toContain(`DELETE ${V}/sessions/9.1?request_id=`);
});
