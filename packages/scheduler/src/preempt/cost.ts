// The cost of stopping an allocation, in minutes of one GPU (or node without GPUs): writing a checkpoint, or else all
// work since its start; more the nearer it is to its end, and multiplied by the number of earlier preemptions. The
// value of the waiting allocation is its requested work, times four for each class between the two.

import type { CycleInput, PendingInput } from "../input/cycle-input.ts";
import type { VictimInput } from "../input/preemption.ts";

const MINUTE = 60_000;
/** Beyond this part of its walltime it had better finish. */
const ALMOST_DONE = 0.9;
const JUST_BEGUN = 0.1;
/** A day of one node: victims that are almost done, or would be lost for good, come last. */
const DEAR = 24 * 60;
/** A checkpoint without an estimate. */
const UNKNOWN_CHECKPOINT = 1;
const PER_CLASS = 4;
/** An unbounded allocation is worth a day of its nodes. */
const UNBOUNDED = 24 * 60;

export function preemptionCost(victim: VictimInput, { now, signals }: Pick<CycleInput, "now" | "signals">): number {
  const { startedAt, nodes, gpusPerNode, requeues, preempted } = victim;
  const minutes = startedAt === null ? 0 : Math.max(0, now - startedAt) / MINUTE;
  const checkpoint =
    signals?.checkpointMinutes?.get(victim.allocation) ??
    (victim.checkpoints === true ? UNKNOWN_CHECKPOINT : undefined);
  const lost = checkpoint ?? minutes * nodes.length * gpusPerNode;
  return (1 + preempted) * (lost + endValue(victim, minutes)) + (requeues ? 0 : DEAR * nodes.length);
}

/** Nothing for an allocation that has just started, much for one that is almost done. */
function endValue({ walltime, nodes }: VictimInput, minutes: number): number {
  if (walltime === null) return 0;
  const used = (minutes * MINUTE) / walltime;
  if (used < JUST_BEGUN) return 0;
  return used > ALMOST_DONE ? DEAR * nodes.length : used * nodes.length;
}

/** `above`: the classes between it and the highest of its victims. */
export function preemptionValue({ minNodes, walltime, constraints }: PendingInput, above: number): number {
  const minutes = walltime === null ? UNBOUNDED : walltime / MINUTE;
  return minutes * minNodes * Math.max(1, constraints.gpuCount) * PER_CLASS ** above;
}
