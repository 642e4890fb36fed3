// The output of `lattice why`, `submit --dry-run` and `status --verbose`.

import { expect, test } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();

const PENDING = {
  id: "7",
  state: "pending",
  summary: "Needs 4 nodes; 6 match, 1 of them free now. Expected to start in 20 min.",
  evaluated_at: "2026-03-01T12:00:00.000Z",
  causes: [
    { code: "busy", text: "Needs 4 nodes; 6 match, 1 of them free now." },
    { code: "priority", text: "2 allocations are ahead of it in the queue." },
  ],
  nodes: {
    total: 8,
    needed: 4,
    matching: 6,
    free: 1,
    failed_constraints: [{ constraint: "gpu_type", nodes: 2 }],
    in_use: [
      { allocation_id: "3", user: "bob", tenant: "physics", nodes: 3, until: "2026-03-01T12:20:00.000Z" },
      { nodes: 1 },
    ],
    other_in_use: 1,
    reserved: [{ allocation_id: "5", nodes: 1, starts_at: "2026-03-01T12:20:00.000Z" }],
  },
  queue: {
    position: 3,
    length: 9,
    scores: { priority: 75, wait_time: 20, total: 95 },
    ahead: [
      { position: 1, allocation_id: "5", nodes: 4, scores: { priority: 135, total: 135 } },
      { position: 2, nodes: 1, scores: { priority: 100, total: 100 } },
    ],
  },
  tenant_limits: ["Tenant physics uses 3 of the 8 nodes it may use."],
  suggestions: [{ kind: "nodes", text: "With 1 node instead of 4 it would start now.", verified_by: "cycle" }],
  estimated_start: "2026-03-01T12:20:00.000Z",
  estimate_error_seconds: 42,
};

test("why explains a pending allocation", async () => {
  rig.answers["GET /api/v1/allocations/7/explain"] = [200, PENDING];
  expect(await rig.run("why", "7")).toBe(0);
  for (const text of [
    "Allocation 7 is Pending. Needs 4 nodes;",
    "busy: Needs 4 nodes;",
    "4 needed; of 8 nodes 6 can take it, 1 of them free.",
    "2 fail gpu_type.",
    "3 busy with 3 (bob of physics), until ",
    "1 busy with another user's allocation, end unknown.",
    "1 more busy with others.",
    "1 free, but reserved for 5, which starts at ",
    "Position 3 of 9.",
    "Tenant physics uses 3 of the 8 nodes it may use.",
    ": an estimate, nothing is reserved.",
    "Half of the recent estimates were right to within 42 s.",
    "With 1 node instead of 4 it would start now. (tried with a full cycle)",
  ])
    expect(rig.out).toContain(text);
  expect(rig.out).toMatch(/POSITION +ALLOCATION +SCORE +PRIORITY +WAIT_TIME\n +1 +5 +0\.135/);
  expect(rig.out).toMatch(/2 +\(hidden\)/);
});

test("why shows nodes that are reserved during a preemption", async () => {
  const victims = [{ allocation_id: "3", nodes: 1, stage: "stopping" }];
  rig.answers["GET /api/v1/allocations/7/explain"] = [200, { ...PENDING, victims }];
  expect(await rig.run("why", "7")).toBe(0);
  expect(rig.out).toContain(": its nodes are reserved.");
});

test("why supports --quiet, JSON and unknown ids", async () => {
  rig.answers["GET /api/v1/allocations/7/explain"] = [200, PENDING];
  expect(await rig.run("why", "7", "-q")).toBe(0);
  expect(rig.out).toBe(`${PENDING.summary}\n`);
  rig.out = "";
  expect(await rig.run("why", "7", "-o", "json")).toBe(0);
  expect(JSON.parse(rig.out)).toEqual(PENDING);
  expect(await rig.run("why", "8")).not.toBe(0);
  expect(rig.err).toContain("Look again.");
});

test("why explains a placement", async () => {
  const placement = {
    nodes: ["n1"],
    started_at: "2026-03-01T12:00:00Z",
    waited_seconds: 3,
    scores: { total: 400, priority: 400 },
  };
  rig.answers["GET /api/v1/allocations/7/explain"] = [
    200,
    { id: "7", state: "running", summary: "It started.", placement },
  ];
  expect(await rig.run("why", "7")).toBe(0);
  expect(rig.out).toContain("Nodes: n1.");
  expect(rig.out).toMatch(/attempt 1 +0\.400/);
  expect(rig.out).not.toContain("Sooner");
});

test("a dry run submits nothing", async () => {
  rig.answers["POST /api/v1/allocations:plan"] = [
    200,
    {
      estimated_start: "2026-03-01T12:20:00Z",
      causes: [{ code: "busy", text: "Needs 4 nodes; 6 match, 1 of them free now." }],
      position: 3,
      queue_length: 3,
      would_preempt: [{ allocation_id: "3", user: "bob", nodes: 2 }],
      warnings: ["careful"],
    },
  ];
  expect(await rig.run("plan", "--nodes=4", "--", "true")).toBe(0);
  expect(rig.requests).toEqual(["POST /api/v1/allocations:plan"]);
  const planned = rig.out;
  rig.out = "";
  expect(await rig.run("submit", "--dry-run", "--nodes=4", "--", "true")).toBe(0);
  expect(rig.out).toBe(planned);
  expect(rig.out).toMatch(/^Would start at about 2026-03-01T/);
  expect(rig.out).toContain("It would preempt 3 of bob on 2 nodes.");
  expect(rig.out).toContain("It would be number 3 of 3 in the queue.");
  expect(rig.out).toContain("Nothing was submitted.");
  expect(rig.err).toContain("careful");
});

test("status --verbose shows the timeline", async () => {
  rig.answers["GET /api/v1/allocations/7"] = [200, { id: "7", state: "running", nodes: ["n1"] }];
  rig.answers["GET /api/v1/allocations/7/timeline"] = [
    200,
    {
      id: "7",
      omitted: 2,
      entries: [{ at: "2026-03-01T12:00:00Z", kind: "placed", text: "Placed on 1 node.", attempt: 3, nodes: ["n1"] }],
    },
  ];
  expect(await rig.run("status", "7", "--verbose")).toBe(0);
  expect(rig.out).toMatch(
    /Timeline\n {2}2 earlier entries are no longer stored\.\n.*Placed on 1 node\. \(n1\) \[attempt 3\]/,
  );
  rig.out = "";
  expect(await rig.run("status", "7", "--verbose", "-o", "json")).toBe(0);
  expect(JSON.parse(rig.out)).toMatchObject({ id: "7", timeline: [{ kind: "placed" }] });
});

test("signals are read from a file", async () => {
  rig.answers["GET /api/v1/admin/signals"] = [200, {}];
  expect(await rig.run("admin", "signals")).toBe(0);
  expect(rig.out).toContain("No signals are set.");
});
