// Numbers the launches of an attempt, like Slurm's steps: 0, 1, 2. Kept in the leader's memory: after a change of
// leader the count restarts, because it is only displayed.

/** Returns the next number of the attempt. */
type StepNumbers = (attempt: string) => number;

/** Attempts with a count; beyond it, the oldest one restarts at 0. */
const MAX_ATTEMPTS = 10_000;

export function stepNumbers(limit = MAX_ATTEMPTS): StepNumbers {
  const next = new Map<string, number>();
  return (attempt) => {
    const number = next.get(attempt) ?? 0;
    next.set(attempt, number + 1);
    const [oldest] = next.keys();
    if (next.size > limit && oldest !== undefined) next.delete(oldest);
    return number;
  };
}
