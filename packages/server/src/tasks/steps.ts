// Which launch of its attempt one is, as Slurm counts steps: 0, 1, 2. In the leader's memory: after a change of leaders
// the count begins anew, since only what tasks show to people hangs on it.

/** The next number of this attempt. */
type StepNumbers = (attempt: string) => number;

/** Attempts that launch; of more, the one that began first is counted from the start again. */
const MOST_ATTEMPTS = 10_000;

export function stepNumbers(most = MOST_ATTEMPTS): StepNumbers {
  const next = new Map<string, number>();
  return (attempt) => {
    const number = next.get(attempt) ?? 0;
    next.set(attempt, number + 1);
    const [oldest] = next.keys();
    if (next.size > most && oldest !== undefined) next.delete(oldest);
    return number;
  };
}
