// f8, how cheaply it could be preempted, in [0, 1]: 1 / (1 + minutes a checkpoint takes). An allocation
// that takes no checkpoints cannot be preempted cheaply at all.

export const checkpoint = (minutes: number | undefined): number =>
  minutes === undefined || Number.isNaN(minutes) ? 0 : 1 / (1 + Math.max(0, minutes));
