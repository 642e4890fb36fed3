// Metrics of the scheduler, under the names that dashboards and alerts use.

import type { AllocationId, NodeId, Placement } from "@lattice/core";
import { attempt } from "@lattice/core";
import { expect, test } from "vitest";
import { createMetrics } from "../../../src/base/observe/index.ts";
import { planResult } from "../../../src/lead/controllers/schedule/plan-result.ts";

const placement = (id: string, backfilled: boolean): Placement => ({
  allocation: id as AllocationId,
  attempt: attempt(1),
  nodes: ["n1" as NodeId],
  scores: {},
  backfilled,
});
const PLAN = [placement("1", false), placement("2", true), placement("3", true), placement("4", true)];
const refusal = (code: "stale_plan" | "node_unavailable") => ({ code, detail: "" });

test("a plan is counted placement by placement", () => {
  const placements = [null, null, refusal("stale_plan"), refusal("node_unavailable")].map((one, n) => ({
    allocation: String(n + 1) as AllocationId,
    refusal: one,
  }));
  expect(planResult(PLAN, { kind: "accepted", id: null, placements })).toEqual({
    accepted: 2,
    backfilled: 1,
    rejected: new Map([
      ["stale_plan", 1],
      ["node_unavailable", 1],
    ]),
  });
  const whole = planResult(PLAN, { kind: "rejected", refusal: refusal("stale_plan") });
  expect(whole).toEqual({ accepted: 0, backfilled: 0, rejected: new Map([["stale_plan", 4]]) });
});

test("the documented names and labels exist", async () => {
  const metrics = createMetrics();
  metrics.schedulingCycle("batch", 0.02, 0.004);
  metrics.estimateError("batch", "first", 70);
  metrics.schedulingPlan("batch", { accepted: 3, backfilled: 1, rejected: new Map([["stale_plan", 2]]) });
  metrics.queueDepth(
    new Map([
      ["batch", 7],
      ["gone", 1],
    ]),
  );
  metrics.queueDepth(new Map([["batch", 5]]));
  const lines = (await metrics.render()).split("\n");
  for (const line of [
    'lattice_scheduling_cycle_duration_seconds_count{vcluster="batch"} 1',
    'lattice_scheduling_cost_function_duration_seconds_count{vcluster="batch"} 1',
    'lattice_eta_error_seconds_count{vcluster="batch",estimate="first"} 1',
    'lattice_scheduling_proposals_total{vcluster="batch",result="accepted",reason=""} 3',
    'lattice_scheduling_proposals_total{vcluster="batch",result="rejected",reason="stale_plan"} 2',
    'lattice_scheduling_placements_total{vcluster="batch"} 3',
    'lattice_scheduling_backfill_jobs_total{vcluster="batch"} 1',
    'lattice_scheduling_queue_depth{vcluster="batch"} 5',
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.some((line) => line.includes('vcluster="gone"'))).toBe(false);
});
