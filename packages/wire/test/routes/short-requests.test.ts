// Short forms over REST: what people write, the message that it becomes, and what is refused under the name they wrote.

import { describe, expect, test } from "vitest";
import { type HttpInput, requestFromHttp, routes } from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

function ask(line: string, body?: unknown): unknown {
  const [httpMethod, target = ""] = line.split(" ");
  const [path = "", query = ""] = target.split("?");
  for (const route of routes().filter((one) => one.httpMethod === httpMethod)) {
    const params = paramsOf(route.path, path);
    if (params !== null) return requestFromHttp(route, { params, query: queryOf(query), body });
  }
  throw new Error(`no route for ${line}`);
}

function paramsOf(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split("/");
  const given = path.split("/");
  if (expected.length !== given.length) return null;
  if (expected.some((part, n) => !part.startsWith(":") && part !== given[n])) return null;
  return Object.fromEntries(
    expected.flatMap((part, n) => (part.startsWith(":") ? [[part.slice(1), given[n] ?? ""]] : [])),
  );
}

const queryOf = (text: string): HttpInput["query"] => Object.fromEntries(new URLSearchParams(text));

const LIMITS = {
  max_nodes: 250,
  max_concurrent_allocations: 50,
  gpu_hours_budget: 150000,
  node_hours_budget: 500000,
};
const QUOTA = { maxNodes: 250, maxConcurrentAllocations: 50, gpuHoursBudget: 150000, nodeHoursBudget: 500000 };

describe("short forms over REST", () => {
  test.each<[string, unknown, object]>([
    [
      "PATCH /v1/allocations/7",
      { telemetry: { mode: "debug", duration: "30m" } },
      { id: "7", telemetryMode: "debug", telemetrySeconds: 1800 },
    ],
    ["PATCH /v1/allocations/7", { telemetry: "audit" }, { telemetryMode: "audit", telemetrySeconds: 0 }],
    ["PATCH /v1/allocations/7", { walltime: "4h" }, { walltimeSeconds: 14400 }],
    [
      "PATCH /v1/allocations/7",
      { lifecycle: { walltime: "4h", priority: "high" } },
      { walltimeSeconds: 14400, preemptionClass: 8 },
    ],
    ["PATCH /v1/allocations/7", { walltime_hours: 1.5 }, { walltimeSeconds: 5400 }],
    ["PATCH /v1/allocations/7", { lifecycle: null, walltime_seconds: 60, hold: null }, { walltimeSeconds: 60 }],
    ["PUT /api/v1/tenants/physics", LIMITS, { id: "physics", quota: QUOTA }],
    [
      "PUT /api/v1/tenants/physics",
      { quota: { max_nodes: 3 }, gpu_hours_budget: 5, unset: ["burst_allowance"] },
      { quota: { maxNodes: 3, gpuHoursBudget: 5 }, unset: ["burst_allowance"] },
    ],
    ["POST /api/v1/tenants", { id: "physics", ...LIMITS }, { id: "physics", quota: QUOTA }],
    [
      "PATCH /v1/vclusters/hpc",
      { max_walltime: "3-00:00:00", lending: { return_grace: "90s" } },
      { maxWalltimeSeconds: 259200, lending: { returnGraceSeconds: 90 } },
    ],
    ["GET /v1/allocations/7/metrics?mode=summary&duration=5m", undefined, { mode: "summary", durationSeconds: 300 }],
    ["GET /v1/allocations/7/metrics?duration=", undefined, { durationSeconds: 0 }],
    [
      "GET /v1/compare?ids=12345,12346&metrics=gpu_utilization,io_write_bytes&align=relative",
      undefined,
      { ids: ["12345", "12346"], metrics: ["gpu_utilization", "io_write_bytes"], align: "relative" },
    ],
    ["GET /v1/allocations?user=", undefined, { user: "" }],
    [
      "GET /v1/allocations/7/logs?stream=stderr&node=n1&since=2026-03-01T10:00:00Z&until=2026-03-02&offset=10&limit=5",
      undefined,
      { node: "n1", offset: "10", limit: 5 },
    ],
    ["GET /v1/dags?tenant=physics", undefined, { tenant: "physics" }],
    ["GET /api/v1/tenants/physics/usage?days=90", undefined, { id: "physics", days: 90 }],
    ["GET /api/v1/usage?user=alice&days=90", undefined, { user: "alice", days: 90 }],
    ["GET /v1/audit/logs?user=dr-x&since=2026-03-01&until=2026-03-15", undefined, { user: "dr-x" }],
    [
      "GET /v1/audit/logs?data_path=s3://sensitive-data/subject-001/",
      undefined,
      { dataPath: "s3://sensitive-data/subject-001/" },
    ],
    ["GET /api/v1/audit?tenant=sensitive-team&from=2026-03-01", undefined, { tenant: "sensitive-team" }],
    ["GET /api/v1/audit?scope=sensitive", undefined, { scope: "sensitive" }],
    [
      "POST /api/v1/admin/restore",
      { path: "/var/lib/lattice/backups/backup-20260305T120000Z.tar.gz" },
      { path: "/var/lib/lattice/backups/backup-20260305T120000Z.tar.gz" },
    ],
    [
      "POST /v1/sessions",
      {
        session: {
          tenant: "ml-team",
          vcluster: "interactive",
          resources: { nodes: 1, constraints: { gpu_type: "GH200" } },
          lifecycle: { type: "bounded", walltime: "4h" },
          environment: { uenv: "prgenv-gnu/24.11:v1" },
        },
      },
      { allocation: { vcluster: "interactive", lifecycle: { walltimeSeconds: 14400 } } },
    ],
    [
      "POST /v1/allocations",
      {
        allocation: {
          type: "task_group",
          template: { entrypoint: "x", lifecycle: { type: "bounded", walltime: "4h" } },
          range: { start: 0, end: 99 },
          concurrency: 20,
        },
      },
      { allocation: { taskGroup: {} } },
    ],
    [
      "POST /v1/allocations",
      {
        entrypoint: "x",
        lifecycle: {
          type: "reactive",
          scale_policy: { min: 4, max: 16, metric: "request_latency_p99", target: "100ms", cooldown: "3m" },
        },
      },
      { allocation: { lifecycle: { scalePolicy: { cooldownSeconds: 180 } } } },
    ],
    [
      "POST /v1/dags",
      {
        dag: {
          allocations: [
            { id: "a", entrypoint: "x" },
            { id: "b", entrypoint: "x", depends_on: [{ ref: "a", condition: "any" }] },
          ],
        },
      },
      { allocations: [{}, {}] },
    ],
  ])("%s %j", (line, body, expected) => {
    expect(ask(line, body)).toMatchObject(expected);
  });

  test.each<[string, unknown, string[]]>([
    [
      "PATCH /v1/allocations/7",
      { walltime: "4h", walltime_seconds: 5 },
      ["walltime_seconds: has the same meaning as walltime | Keep one of walltime and walltime_seconds."],
    ],
    [
      "PATCH /v1/allocations/7",
      { walltime: "4h", lifecycle: { walltime: "4h" } },
      ["lifecycle.walltime: has the same meaning as walltime | Keep one of walltime and lifecycle.walltime."],
    ],
    [
      "PATCH /v1/allocations/7",
      { telemetry: { mode: "debug" }, telemetry_mode: "prod" },
      ["telemetry_mode: has the same meaning as telemetry.mode | Keep one of telemetry.mode and telemetry_mode."],
    ],
    ["PATCH /v1/allocations/7", { telemetry: { mod: "debug" } }, ["telemetry.mod: is not a known field"]],
    [
      "PATCH /v1/allocations/7",
      { lifecycle: { requeue_policy: "never" } },
      ["lifecycle.requeue_policy: is not a known field"],
    ],
    ["PATCH /v1/allocations/7", { waltime: "4h" }, ['waltime: is not a known field | Did you mean "walltime"?']],
    [
      "PATCH /v1/allocations/7",
      { walltime: 4 },
      ['walltime: must be a string, not the number 4 | Write "72h", or use walltime_seconds.'],
    ],
    [
      "PATCH /v1/allocations/7",
      { lifecycle: { walltime_seconds: "x" } },
      ["lifecycle.walltime_seconds: must be a whole number between 0 and 4294967295, not a string"],
    ],
    [
      "PUT /v1/tenants/physics",
      { max_nodes: 5, quota: { max_nodes: 6 } },
      ["quota.max_nodes: has the same meaning as max_nodes | Keep one of max_nodes and quota.max_nodes."],
    ],
    [
      "PUT /v1/tenants/physics",
      { max_nodes: "5" },
      ["max_nodes: must be a whole number between 0 and 4294967295, not a string | Write 5 without quotes."],
    ],
    ["PUT /v1/tenants/physics", { max_node: 5 }, ['max_node: is not a known field | Did you mean "max_nodes"?']],
    ["PUT /v1/tenants/physics", { "quota.max_nodes": 5 }, ["quota.max_nodes: is not a known field"]],
    [
      "GET /v1/allocations/7/metrics?duration=5",
      undefined,
      [
        'duration: "5" is not a duration (did you mean "5m"?) | Write it as "72h", "90m", "1h30m", "HH:MM:SS" or "D-HH:MM:SS".',
      ],
    ],
    [
      "GET /v1/allocations/7/metrics?duration=5m&duration_seconds=300",
      undefined,
      ["duration: has the same meaning as duration_seconds | Keep one of duration and duration_seconds."],
    ],
    [
      "PATCH /v1/vclusters/hpc",
      { max_walltime: 5 },
      ['max_walltime: must be a string, not the number 5 | Write "4h", or use max_walltime_seconds.'],
    ],
  ])("%s %j is refused", async (line, body, lines) => {
    expect(fieldLines(await refusal(() => ask(line, body)))).toEqual(lines);
  });
});
