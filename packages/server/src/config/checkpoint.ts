// The checkpoint section: how often the broker looks, and what its cost model goes by.

import { type Duration, MAX_KEPT_CHECKPOINTS, seconds } from "@lattice/core";
import type { WorthRates } from "@lattice/scheduler";
import { z } from "zod";
import { count, section, span } from "./fields.ts";

export interface CheckpointConfig {
  /** Between two looks at every running allocation. */
  readonly interval: Duration;
  /** What all checkpoints together may write. */
  readonly bytesPerSecond: number;
  readonly gpuMemoryBytes: number;
  readonly rates: WorthRates;
  /** Complete ones of an allocation that stay; 0: all. */
  readonly keep: number;
  /** After an allocation's end its checkpoints are removed; 0: never. */
  readonly retention: Duration;
}

const amount = (least: number, most: number) => z.number().min(least).max(most);

export const checkpointSection = section({
  evaluation_interval: span({ least: seconds(0.1), most: seconds(3_600), preset: "45s" }),
  storage_gb_per_second: amount(0.001, 1_000_000).default(10),
  gpu_memory_gb: amount(0, 100_000).default(80),
  node_mtbf_hours: amount(0.001, 10_000_000).default(6_000),
  storage_seconds_per_gb: amount(0, 1_000_000).default(0.02),
  keep: count(0, MAX_KEPT_CHECKPOINTS).default(3),
  retention: span({ least: seconds(0), most: seconds(3_650 * 86_400), preset: "7d" }),
  quiet_interval: span({ least: seconds(0.1), most: seconds(365 * 86_400), preset: "6h" }),
});

const GB = 1e9;
const HOUR = 3_600;

export const completeCheckpoint = (file: z.output<typeof checkpointSection>): CheckpointConfig => ({
  interval: file.evaluation_interval,
  bytesPerSecond: file.storage_gb_per_second * GB,
  gpuMemoryBytes: file.gpu_memory_gb * GB,
  rates: {
    nodeMtbfSeconds: file.node_mtbf_hours * HOUR,
    storageSecondsPerGb: file.storage_seconds_per_gb,
    quietSeconds: file.quiet_interval / 1000,
  },
  keep: file.keep,
  retention: file.retention,
});
