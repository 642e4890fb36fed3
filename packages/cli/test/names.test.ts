// Work named by its id, its name or "last", and the output of groups and DAGs.

import { describe, expect, test } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const V = "/api/v1";
const job = (id: string, state = "running", more: object = {}) => ({ id, state, spec: { name: "train" }, ...more });
const list = (...allocations: object[]) => [200, { allocations }] as const;
const gets = (): string[] => rig.requests.filter((line) => !line.includes("?")).map((line) => line.replace(V, ""));

describe("a name", () => {
  test("means the newest that has not ended, and costs one request", async () => {
    rig.answers = {
      [`GET ${V}/allocations`]: list(job("9", "failed"), job("8"), job("7", "completed")),
      [`GET ${V}/allocations/8`]: [200, job("8")],
    };
    expect(await rig.run("status", "train"), rig.err).toBe(0);
    expect(rig.out).toMatch(/ID: +8/);
    expect(rig.requests[0]).toMatch(/name=train/);
  });

  test("of several allocations that run is refused where it changes something", async () => {
    rig.answers = { [`GET ${V}/allocations`]: list(job("9"), job("8")) };
    expect(await rig.run("cancel", "train")).toBe(2);
    expect(rig.err).toContain('2 allocations are named "train": 9, 8');
  });

  test("of a service leads to its allocation, and an unknown one is an error", async () => {
    rig.answers = {
      [`GET ${V}/allocations`]: list(),
      [`GET ${V}/services/web`]: [200, { endpoints: [{ allocation_id: "4" }] }],
      [`POST ${V}/allocations/4/cancel`]: [200, { id: "4", state: "cancelled" }],
    };
    expect(await rig.run("cancel", "web"), rig.err).toBe(0);
    expect(rig.out).toBe("Cancelled allocation 4\n");
    expect(await rig.run("cancel", "nope")).toBe(3);
    expect(rig.err).toContain('has no allocation named "nope"');
  });
});

test("last is the newest, and an id costs no request", async () => {
  rig.answers = {
    [`GET ${V}/allocations`]: list(job("9")),
    [`GET ${V}/allocations/9/explain`]: [200, { id: "9", state: "running", summary: "It runs." }],
    [`GET ${V}/allocations/12_3`]: [200, job("12_3")],
  };
  expect(await rig.run("why", "last"), rig.err).toBe(0);
  expect(rig.out).toContain("It runs.");
  expect(await rig.run("status", "12_3")).toBe(0);
  expect(rig.requests.filter((line) => line.includes("12_3"))).toEqual([`GET ${V}/allocations/12_3`]);
});

test("a DAG is known by its number, its name or last", async () => {
  const dag = { id: "dag-5", name: "flow", state: "running", members: [] };
  rig.answers = { [`GET ${V}/dags`]: [200, { dags: [dag] }], [`GET ${V}/dags/dag-5`]: [200, dag] };
  for (const word of ["dag-5", "5", "flow", "last"]) expect(await rig.run("dag", "status", word), word).toBe(0);
  expect(await rig.run("status", "dag-5")).toBe(0);
  expect(new Set(gets().slice(-1))).toEqual(new Set(["GET /dags/dag-5"]));
  expect(await rig.run("dag", "status", "nope")).toBe(3);
});

describe("logs of a group", () => {
  const group = { size: 2, waiting: 0, pending: 0, running: 0, completed: 1, failed: 1, cancelled: 0 };

  test("show each element below a header; --failed the failed ones", async () => {
    rig.answers = {
      [`GET ${V}/allocations/12`]: [200, job("12", "failed", { group })],
      [`GET ${V}/allocations`]: list(job("12_1", "failed", { reason: "prologue_failed", message: "no image" })),
      [`GET ${V}/allocations/12_1/logs?stream=stdout`]: [200, ""],
      [`GET ${V}/allocations/12_1/logs?stream=stderr`]: [200, ""],
    };
    expect(await rig.run("logs", "12", "--failed"), rig.err).toBe(0);
    expect(rig.out).toBe("==> 12_1: failed <==\n");
    expect(rig.err).toBe("allocation 12_1 failed: prologue_failed: no image\n");
    expect(rig.requests.find((line) => line.includes("group_id=12"))).toContain("state=failed");
    expect(await rig.run("logs", "12", "--follow")).toBe(2);
  });

  test("of which none failed say so", async () => {
    rig.answers = {
      [`GET ${V}/allocations/12`]: [200, job("12", "running", { group })],
      [`GET ${V}/allocations`]: list(),
    };
    expect(await rig.run("logs", "12", "--failed")).toBe(0);
    expect(rig.err).toContain("no element of task group 12 has failed");
  });
});

test("top without an id shows the cluster", async () => {
  const point = { at: "2026-03-01T10:00:00Z", value: 40 };
  const series = [{ metric: "cpu_utilization", unit: "percent", node: "", points: [point] }];
  rig.answers = {
    [`GET ${V}/nodes`]: [
      200,
      {
        nodes: [
          { id: "n1", state: "ready", claims: [{}] },
          { id: "n2", state: "draining" },
        ],
      },
    ],
    [`GET ${V}/allocations`]: [200, { allocations: [job("9", "running", { nodes: ["n1"] })], total: 1 }],
    [`GET ${V}/allocations/9/metrics`]: [200, { series }],
  };
  expect(await rig.run("top"), rig.err).toBe(0);
  expect(rig.out).toContain("Nodes: 2, of which 1 busy, 0 idle, 1 draining.");
  expect(rig.out).toMatch(/9 +train .* 40\.0 %/);
});
