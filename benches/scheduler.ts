// Duration and memory of scheduling cycles on clusters of growing size, with a full snapshot each time, and the overhead
// of reasons, estimates and scores for all pending allocations.
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { measureScheduler } from "./scheduler-process.ts";

interface Target {
  readonly nodes: number;
  readonly pending: number;
  readonly warmUp: number;
  readonly rounds: number;
  readonly targetMs: number;
}

interface Measured {
  readonly firstMs: number;
  readonly snapshotMs: readonly number[];
  readonly cycleMs: readonly number[];
  readonly fullMs: readonly number[];
  readonly memoryBytes: number;
  readonly summary: string;
}

const TARGETS: readonly Target[] = [
  { nodes: 1_000, pending: 100, targetMs: 10, warmUp: 60, rounds: 60 },
  { nodes: 5_000, pending: 500, targetMs: 60, warmUp: 10, rounds: 20 },
  { nodes: 10_000, pending: 1_000, targetMs: 150, warmUp: 5, rounds: 15 },
  { nodes: 100_000, pending: 10_000, targetMs: 3_000, warmUp: 1, rounds: 5 },
];

const MAX_MB = 500;

export const scheduler: Bench = async (log) => {
  const figures: Figure[] = [];
  for (const target of TARGETS) figures.push(...(await measure(target, log)));
  return figures;
};

async function measure(target: Target, log: Progress): Promise<Figure[]> {
  const { nodes, pending, targetMs } = target;
  log(`${nodes} nodes, ${pending} pending`);
  const { firstMs, snapshotMs, cycleMs, fullMs, memoryBytes, summary } = await measureScheduler<Measured>(
    "cycles",
    target,
  );
  log(summary);
  const both = snapshotMs.map((ms, round) => ms + (cycleMs[round] ?? 0));
  const added = (quantile(fullMs, 0.5) - quantile(cycleMs, 0.5)) / quantile(both, 0.5);
  const name = `${nodes}x${pending}`;
  return [
    withoutTarget(`${name}_snapshot_p50`, quantile(snapshotMs, 0.5), "ms"),
    withoutTarget(`${name}_cycle_p50`, quantile(cycleMs, 0.5), "ms"),
    withoutTarget(`${name}_first`, firstMs, "ms"),
    below(`${name}_snapshot_and_cycle_p50`, quantile(both, 0.5), "ms", targetMs),
    below(`${name}_full_report_overhead`, 100 * added, "%", 50),
    below(`${name}_memory`, memoryBytes / 2 ** 20, "MB", MAX_MB),
  ];
}
