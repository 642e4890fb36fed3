// Accuracy of start estimates: 60 jobs of known length on six nodes in virtual time, with the real scheduler. An estimate
// is right within 10 % of the wait, or 30 s. All jobs are submitted at once, or one every ten seconds; what arrives later
// may overtake, which no estimate knows.
import { atLeast, type Bench, below, type Figure, withoutTarget } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

interface Run {
  readonly right: number;
  readonly waited: number;
  readonly reservedShown: number;
  readonly reservedLate: number;
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const MIN_RIGHT = 0.5;
const SPACING_MS = 10_000;

export const estimates: Bench = async () => [
  ...(await figuresOf("at_once", 0, (name, share) => atLeast(name, share, "of the jobs", MIN_RIGHT))),
  ...(await figuresOf("one_by_one", SPACING_MS, (name, share) => withoutTarget(name, share, "of the jobs"))),
];

async function figuresOf(
  name: string,
  spacing: number,
  judge: (name: string, share: number) => Figure,
): Promise<readonly Figure[]> {
  const runs = await measureScheduler<readonly Run[]>("estimates", { seeds: SEEDS, spacing });
  const sum = (of: (run: Run) => number): number => runs.reduce((total, run) => total + of(run), 0);
  return [
    judge(`${name}_first_estimate_right`, sum((run) => run.right) / sum((run) => run.waited)),
    withoutTarget(
      `${name}_reserved_starts`,
      sum((run) => run.reservedShown),
      "jobs",
    ),
    below(
      `${name}_reserved_late`,
      sum((run) => run.reservedLate),
      "jobs",
      1,
    ),
  ];
}
