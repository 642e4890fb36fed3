// Latency from the victim's complete checkpoint to the start of the allocation that preempts it. Both write the time.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const RUNS = 20;
const MAX_MS = 1_000;

/** Checkpoints on SIGUSR1 and keeps running: the agent ends it. */
const victim = (saved: string): string =>
  [
    "#!/bin/sh",
    `trap 'mkdir -p $LATTICE_CHECKPOINT_DIR/x; date +%s%N >${saved}; : >"$LATTICE_CHECKPOINT_DONE"' USR1`,
    "while :; do sleep 0.05; done",
    "",
  ].join("\n");

const numberIn = (file: string): number => Number(readFileSync(file, "utf8"));

export const preemptStart: Bench = async (log) => {
  const output = mkdtempSync(join(tmpdir(), "lattice-bench-output-"));
  try {
    return await withCluster({ nodes: 1, agentArgs: ["--output-dir", output] }, async (cluster) => {
      const saved = cluster.file("saved");
      const low = await cluster.submit({
        script: victim(saved),
        walltime: "4h",
        preemption_class: 1,
        checkpoint: "signal",
      });
      const waits: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        await cluster.reaches(low, ["running"]);
        const file = cluster.file(`start-${run}`);
        const high = await cluster.submit({
          entrypoint: `date +%s%N > ${file}`,
          walltime: "10m",
          preemption_class: 8,
        });
        await cluster.ends(high);
        waits.push((numberIn(file) - numberIn(saved)) / 1e6);
        if (run % 5 === 0) log(`${run} of ${RUNS}`);
      }
      return [
        below("checkpoint_to_start_max", Math.max(...waits), "ms", MAX_MS),
        withoutTarget("checkpoint_to_start_p50", quantile(waits, 0.5), "ms"),
      ];
    });
  } finally {
    rmSync(output, { recursive: true, force: true, maxRetries: 9 });
  }
};
