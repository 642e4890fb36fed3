// What stopping an allocation costs, in minutes of one GPU (or node without GPUs): writing a checkpoint, or
// else everything done since its start; more the nearer it is to its end, and as much again for every time that it was
// stopped before. And what the one that waits
// is worth: the work it asks for, which counts four times as much for each class between the two.

import type { CycleInput, PendingInput } from "../cycle-types.ts";
import type { VictimInput } from "./preempt-types.ts";

const MINUTE = 60_000;
/** Over this share of its walltime it is better let finish. */
const ALMOST_DONE = 0.9;
const JUST_BEGUN = 0.1;
/** A day of one node: who is almost done, or would be lost for good, goes last. */
const DEAR = 24 * 60;
/** A checkpoint that nobody has an estimate of. */
const UNKNOWN_CHECKPOINT = 1;
const PER_CLASS = 4;
/** What never ends is worth a day of its nodes. */
const UNBOUNDED = 24 * 60;

export function preemptionCost(victim: VictimInput, { now, signals }: Pick<CycleInput, "now" | "signals">): number {
  const { startedAt, nodes, gpusPerNode, requeues, preempted = 0 } = victim;
  const minutes = startedAt === null ? 0 : Math.max(0, now - startedAt) / MINUTE;
  const checkpoint =
    signals?.checkpointMinutes?.get(victim.allocation) ??
    (victim.checkpoints === true ? UNKNOWN_CHECKPOINT : undefined);
  const lost = checkpoint ?? minutes * nodes.length * gpusPerNode;
  return (1 + preempted) * (lost + endValue(victim, minutes)) + (requeues ? 0 : DEAR * nodes.length);
}

/** Nothing for who has just begun, much for who is almost done. */
function endValue({ walltime, nodes }: VictimInput, minutes: number): number {
  if (walltime === null) return 0;
  const used = (minutes * MINUTE) / walltime;
  if (used < JUST_BEGUN) return 0;
  return used > ALMOST_DONE ? DEAR * nodes.length : used * nodes.length;
}

/** `above`: classes between it and the highest of those it would stop. */
export function preemptionValue({ minNodes, walltime, constraints }: PendingInput, above: number): number {
  const minutes = walltime === null ? UNBOUNDED : walltime / MINUTE;
  return minutes * minNodes * Math.max(1, constraints.gpuCount) * PER_CLASS ** above;
}
