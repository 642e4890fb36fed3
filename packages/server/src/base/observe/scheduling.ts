// What the scheduler is watched by, under the names of the telemetry chapter. Plans are counted by
// placement: one plan may be taken in part.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** What became of the placements of one plan. */
export interface PlanResult {
  readonly accepted: number;
  /** Of those accepted. */
  readonly backfilled: number;
  /** By the code of the refusal. */
  readonly rejected: ReadonlyMap<string, number>;
}

export interface SchedulingMetrics {
  /** `scoringSeconds` of it went into the cost function; 0: it was not needed. */
  schedulingCycle(vcluster: string, seconds: number, scoringSeconds: number): void;
  /** How far an estimated start was off, of the first estimate and of the last. */
  estimateError(vcluster: string, which: "first" | "last", seconds: number): void;
  schedulingPlan(vcluster: string, result: PlanResult): void;
  /** One allocation was stopped for another. */
  schedulingPreemption(vcluster: string, reason: string): void;
  /** Lines of the captured trace. */
  traceLines(result: "written" | "dropped", lines: number): void;
  /** Pending allocations; vClusters left out vanish. */
  queueDepth(byVCluster: ReadonlyMap<string, number>): void;
}

/** The chapter's alarm is at 30 s. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** From a cycle to days. */
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
    help: "Time to evaluate the cost function for everyone in the queue, once per cycle.",
    buckets: SECONDS,
    labelNames: ["vcluster"],
    registers,
  });
  const errors = new Histogram({
    name: "lattice_eta_error_seconds",
    help: "Difference between an estimated start and the true one, of the first estimate given and of the last.",
    buckets: WAITS,
    labelNames: ["vcluster", "estimate"],
    registers,
  });
  const proposals = new Counter({
    name: "lattice_scheduling_proposals_total",
    help: "Placements proposed, by what became of them; a rejected one with the reason.",
    labelNames: ["vcluster", "result", "reason"],
    registers,
  });
  const placements = new Counter({
    name: "lattice_scheduling_placements_total",
    help: "Placements that were committed.",
    labelNames: ["vcluster"],
    registers,
  });
  const backfilled = new Counter({
    name: "lattice_scheduling_backfill_jobs_total",
    help: "Allocations placed ahead of others that wait for more.",
    labelNames: ["vcluster"],
    registers,
  });
  const preemptions = new Counter({
    name: "lattice_scheduling_preemptions_total",
    help: "Allocations stopped for others, by their vCluster and why.",
    labelNames: ["vcluster", "reason"],
    registers,
  });
  const traced = new Counter({
    name: "lattice_trace_lines_total",
    help: "Lines of the captured trace, by whether they could be written.",
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
