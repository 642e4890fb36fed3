// The Pareto front: trials that no other trial beats in both costs.

interface Costed {
  /** The cost of the objective, then of the other one. */
  readonly costs: readonly [number, number];
}

/** Sorted by the first cost; of equal trials the earlier one. */
export function frontOf<T extends Costed>(trials: readonly T[]): T[] {
  const inOrder = trials
    .map((trial, i) => ({ trial, i }))
    .sort((a, b) => a.trial.costs[0] - b.trial.costs[0] || a.trial.costs[1] - b.trial.costs[1] || a.i - b.i);
  const front: T[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const { trial } of inOrder) {
    if (trial.costs[1] >= least) continue;
    least = trial.costs[1];
    front.push(trial);
  }
  return front;
}
