// Latency from submission to process start on an idle cluster. The job writes the time at which it runs.
import { readFileSync } from "node:fs";
import { sleep } from "../tests/harness/eventually.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const RUNS = 250;
const WARM_UP_RUNS = 20;
/** Pause until the cluster is idle again. */
const PAUSE_MS = 30;
const P50_MS = 60;
const P99_MS = 200;

export const startLatency: Bench = (log) =>
  withCluster({ nodes: 4 }, async (cluster) => {
    const latencies: number[] = [];
    for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
      const file = cluster.file(`start-${run}`);
      const submittedAt = performance.timeOrigin + performance.now();
      const id = await cluster.submit({ entrypoint: `date +%s%N > ${file}` });
      const record = await cluster.ends(id);
      if (record.state !== "completed") throw new Error(`the job ended as ${record.state}: ${record.message}`);
      if (run >= WARM_UP_RUNS) latencies.push(Number(readFileSync(file, "utf8")) / 1e6 - submittedAt);
      if (run % 50 === 0) log(`${run} of ${WARM_UP_RUNS + RUNS}`);
      await sleep(PAUSE_MS);
    }
    return [
      below("latency_p50", quantile(latencies, 0.5), "ms", P50_MS),
      below("latency_p99", quantile(latencies, 0.99), "ms", P99_MS),
      withoutTarget("latency_min", Math.min(...latencies), "ms"),
      withoutTarget("latency_max", Math.max(...latencies), "ms"),
    ];
  });
