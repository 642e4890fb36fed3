// How far the greedy solver is from the best possible plan, on 500 small random instances that an
// exhaustive search can solve: mean and distribution of the value lost, with requests of up to a third and of up to half of
// the nodes.
import { type Bench, below, type Figure, plain, quantile } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

const INSTANCES = 500;

export const schedulerGap: Bench = async (say) => [...(await gapsOf("third", say)), ...(await gapsOf("half", say))];

async function gapsOf(shape: "third" | "half", say: (text: string) => void): Promise<readonly Figure[]> {
  const wanted = { instances: INSTANCES, shape };
  const gaps = (await measureScheduler<readonly number[]>("gaps", wanted)).map((gap) => 100 * gap);
  const none = gaps.filter((gap) => gap < 1e-9).length;
  say(`requests of up to a ${shape} of the nodes: ${none} of ${INSTANCES} plans are the best there is`);
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
    below(`mean_gap_${shape}`, mean, "%", 3),
    plain(`best_plans_${shape}`, (100 * none) / INSTANCES, "%"),
    plain(`gap_p90_${shape}`, quantile(gaps, 0.9), "%"),
    plain(`gap_p99_${shape}`, quantile(gaps, 0.99), "%"),
    plain(`gap_max_${shape}`, quantile(gaps, 1), "%"),
  ];
}
