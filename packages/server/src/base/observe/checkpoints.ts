// Metrics of checkpoints. Counted by the leader from committed entries, so that the sum over all servers is correct.

import type { Event, View } from "@lattice/core";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface CheckpointMetrics {
  /** An event of a committed entry. */
  checkpointEvent(event: Event, view: View): void;
  /** The broker evaluated one allocation. */
  checkpointEvaluated(verdict: string): void;
  /** Nodes that cannot write checkpoints. */
  checkpointStorage(nodesAway: number): void;
  /** Ended allocations whose checkpoints are not yet assigned to an agent for removal. */
  checkpointsToRemove(count: number): void;
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1_800];

export function checkpointMetrics(registry: Registry): CheckpointMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames, registers });
  const taken = counter("lattice_checkpoints_total", "Checkpoints requested, by cause and result.", [
    "cause",
    "result",
  ]);
  const seconds = new Histogram({
    name: "lattice_checkpoint_duration_seconds",
    help: "Time from the request of a checkpoint to its completion on the last node.",
    buckets: SECONDS,
    registers,
  });
  const preempting = new Histogram({
    name: "lattice_preemption_checkpoint_duration_seconds",
    help: "Time from request to completion, for checkpoints of preempted allocations.",
    buckets: SECONDS,
    registers,
  });
  const bytes = counter("lattice_checkpoint_bytes_total", "Bytes written by complete checkpoints.");
  const failedVictims = counter(
    "lattice_preemption_failed_checkpoint_total",
    "Preempted allocations that were stopped without the requested checkpoint.",
  );
  const requeued = counter("lattice_preemption_victim_requeue_total", "Preempted allocations that were requeued.");
  const conflicts = counter(
    "lattice_checkpoint_walltime_conflict_total",
    "Last checkpoints before the end of a walltime, by result.",
    ["result"],
  );
  const evaluations = counter("lattice_checkpoint_evaluations_total", "Evaluations of the broker, by verdict.", [
    "verdict",
  ]);
  const away = new Gauge({
    name: "lattice_checkpoint_storage_unavailable",
    help: "1 while a node with work cannot write to the checkpoint storage.",
    registers,
  });

  const toRemove = new Gauge({
    name: "lattice_checkpoints_to_remove",
    help: "Ended allocations whose checkpoints are not yet assigned to an agent for removal.",
    registers,
  });
  const leftBehind = counter(
    "lattice_checkpoints_left_behind_total",
    "Allocations whose checkpoints are never removed, because the list of removals was full.",
  );

  function checkpoint({ allocation, reason, to = "" }: Event, view: View): void {
    if (reason === "left_behind") {
      leftBehind.inc();
      return;
    }
    const record = allocation === undefined ? undefined : view.allocation(allocation);
    const last = record?.checkpoints?.last;
    if (reason !== "taken" || last === undefined) {
      taken.inc({ cause: to, result: "failed" });
      return;
    }
    taken.inc({ cause: last.cause, result: "taken" });
    seconds.observe(last.took / 1000);
    bytes.inc(last.bytes);
    if (last.cause === "preempted") preempting.observe(last.took / 1000);
  }

  return {
    checkpointEvent(event, view) {
      const { kind, from, to, reason } = event;
      if (kind === "checkpoint") checkpoint(event, view);
      if (kind !== "allocation_changed") return;
      if (to === "pending" && reason === "preempted") requeued.inc();
      if (from !== "checkpointing") return;
      if (to === "pending" && reason === "preempted") failedVictims.inc();
      if (to === "failed" && reason === "preempted") failedVictims.inc();
      if (to === "failed" && reason === "walltime_exceeded") conflicts.inc({ result: "failed" });
      if (to === "suspended" && reason === "walltime") conflicts.inc({ result: "suspended" });
    },
    checkpointEvaluated: (verdict) => evaluations.inc({ verdict }),
    checkpointsToRemove: (count) => toRemove.set(count),
    checkpointStorage: (nodesAway) => away.set(nodesAway > 0 ? 1 : 0),
  };
}
