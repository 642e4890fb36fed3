// Metrics of the scheduler. Plans are counted by placement, since a plan may be accepted in part.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The results of the placements of one plan. */
export interface PlanResult {
  readonly accepted: number;
  /** Included in `accepted`. */
  readonly backfilled: number;
  /** By the code of the rejection. */
  readonly rejected: ReadonlyMap<string, number>;
}

export interface SchedulingMetrics {
  /** `scoringSeconds` is the part for the cost function; 0 when it was not evaluated. */
  schedulingCycle(vcluster: string, seconds: number, scoringSeconds: number): void;
  /** A planner of this leader has ended, and another starts: it failed, or its state differed from the replica. */
  plannerEnded(cause: "failed" | "state_differs"): void;
  /** The error of an estimated start, for the first and the last estimate. */
  estimateError(vcluster: string, which: "first" | "last", seconds: number): void;
  schedulingPlan(vcluster: string, result: PlanResult): void;
  /** One allocation was preempted. */
  schedulingPreemption(vcluster: string, reason: string): void;
  /** Lines of the captured trace. */
  traceLines(result: "written" | "dropped", lines: number): void;
  /** Pending allocations; omitted vClusters are removed. */
  queueDepth(byVCluster: ReadonlyMap<string, number>): void;
}

/** A cycle above 30 s is alarming. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** From one cycle to days. */
const WAITS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 21_600, 86_400, 259_200];

export function schedulingMetrics(registry: Registry): SchedulingMetrics {
  const registers = [registry];
  const cycles = new Histogram({
    name: "lattice_scheduling_cycle_duration_seconds",
    help: "Time of a scheduling cycle.",
    buckets: SECONDS,
    labelNames: ["vcluster"],
    registers,
  });
  const scoring = new Histogram({
    name: "lattice_scheduling_cost_function_duration_seconds",
    help: "Time to evaluate the cost function for the whole queue, once per cycle.",
    buckets: SECONDS,
    labelNames: ["vcluster"],
    registers,
  });
  const errors = new Histogram({
    name: "lattice_eta_error_seconds",
    help: "Difference between the estimated and the actual start, for the first and the last estimate.",
    buckets: WAITS,
    labelNames: ["vcluster", "estimate"],
    registers,
  });
  const plannersEnded = new Counter({
    name: "lattice_scheduling_planner_restarts_total",
    help: "Restarts of the scheduler's thread, by cause.",
    labelNames: ["cause"],
    registers,
  });
  const proposals = new Counter({
    name: "lattice_scheduling_proposals_total",
    help: "Proposed placements, by result and reason of rejection.",
    labelNames: ["vcluster", "result", "reason"],
    registers,
  });
  const placements = new Counter({
    name: "lattice_scheduling_placements_total",
    help: "Committed placements.",
    labelNames: ["vcluster"],
    registers,
  });
  const backfilled = new Counter({
    name: "lattice_scheduling_backfill_jobs_total",
    help: "Allocations started by backfill.",
    labelNames: ["vcluster"],
    registers,
  });
  const preemptions = new Counter({
    name: "lattice_scheduling_preemptions_total",
    help: "Preempted allocations, by their vCluster and reason.",
    labelNames: ["vcluster", "reason"],
    registers,
  });
  const traced = new Counter({
    name: "lattice_trace_lines_total",
    help: "Lines of the captured trace, written or dropped.",
    labelNames: ["result"],
    registers,
  });
  const depth = new Gauge({
    name: "lattice_scheduling_queue_depth",
    help: "Pending allocations.",
    labelNames: ["vcluster"],
    registers,
  });
  return {
    schedulingCycle(vcluster, seconds, scoringSeconds) {
      cycles.observe({ vcluster }, seconds);
      if (scoringSeconds > 0) scoring.observe({ vcluster }, scoringSeconds);
    },
    plannerEnded: (cause) => plannersEnded.inc({ cause }),
    estimateError: (vcluster, estimate, seconds) => errors.observe({ vcluster, estimate }, seconds),
    schedulingPlan(vcluster, result) {
      proposals.inc({ vcluster, result: "accepted", reason: "" }, result.accepted);
      placements.inc({ vcluster }, result.accepted);
      backfilled.inc({ vcluster }, result.backfilled);
      for (const [reason, count] of result.rejected) proposals.inc({ vcluster, result: "rejected", reason }, count);
    },
    schedulingPreemption: (vcluster, reason) => preemptions.inc({ vcluster, reason }),
    traceLines: (result, lines) => traced.inc({ result }, lines),
    queueDepth(byVCluster) {
      depth.reset();
      for (const [vcluster, count] of byVCluster) depth.set({ vcluster }, count);
    },
  };
}
