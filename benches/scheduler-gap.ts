// The distance of the greedy solver from the optimum on 500 small random instances that an exhaustive search can solve:
// mean and distribution of the lost value, with requests of up to a third and up to half of the nodes.
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

const INSTANCES = 500;

export const schedulerGap: Bench = async (log) => [...(await gapsOf("third", log)), ...(await gapsOf("half", log))];

async function gapsOf(shape: "third" | "half", log: Progress): Promise<readonly Figure[]> {
  const input = { instances: INSTANCES, shape };
  const gaps = (await measureScheduler<readonly number[]>("gaps", input)).map((gap) => 100 * gap);
  const optimal = gaps.filter((gap) => gap < 1e-9).length;
  log(`requests of up to a ${shape} of the nodes: ${optimal} of ${INSTANCES} plans are optimal`);
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 5],
    [5, 10],
    [10, 20],
    [20, 100],
  ] as const) {
    const count = gaps.filter((gap) => gap >= Math.max(from, 1e-9) && gap < to).length;
    log(`${String(from).padStart(3)} to ${String(to).padStart(3)} %: ${count}`);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return [
    below(`mean_gap_${shape}`, mean, "%", 3),
    withoutTarget(`optimal_plans_${shape}`, (100 * optimal) / INSTANCES, "%"),
    withoutTarget(`gap_p90_${shape}`, quantile(gaps, 0.9), "%"),
    withoutTarget(`gap_p99_${shape}`, quantile(gaps, 0.99), "%"),
    withoutTarget(`gap_max_${shape}`, quantile(gaps, 1), "%"),
  ];
}
