// How far the greedy solver is from the best possible plan, on 500 small random instances that an
// exhaustive search can solve: mean and distribution of the value lost.
import { type Bench, below, plain, quantile } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

const INSTANCES = 500;

export const schedulerGap: Bench = async (say) => {
  const gaps = (await measureScheduler<readonly number[]>("gaps", INSTANCES)).map((gap) => 100 * gap);
  const none = gaps.filter((gap) => gap < 1e-9).length;
  say(`${none} of ${INSTANCES} plans are the best there is`);
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 5],
    [5, 10],
    [10, 20],
    [20, 100],
  ] as const) {
    const count = gaps.filter((gap) => gap >= Math.max(from, 1e-9) && gap < to).length;
    say(`${String(from).padStart(3)} to ${String(to).padStart(3)} %: ${count}`);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return [
    below("mean_gap", mean, "%", 3),
    plain("best_plans", (100 * none) / INSTANCES, "%"),
    plain("gap_p90", quantile(gaps, 0.9), "%"),
    plain("gap_p99", quantile(gaps, 0.99), "%"),
    plain("gap_max", quantile(gaps, 1), "%"),
  ];
};
