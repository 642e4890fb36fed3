// Parts of specifications that are long and rarely differ.

import { type CheckpointSpec, duration, type ScalePolicy } from "@lattice/core";

export const scalePolicy = (minNodes: number, maxNodes: number): ScalePolicy => ({
  minNodes,
  maxNodes,
  metric: "queue_depth",
  targetMilli: 100_000,
  evaluationInterval: duration(60_000),
  upWindow: duration(120_000),
  downWindow: duration(300_000),
  downThresholdMilli: 500,
  cooldown: duration(180_000),
});

export const CHECKPOINT: CheckpointSpec = {
  mode: "signal",
  auto: true,
  port: 0,
  timeout: duration(600_000),
  maxDeferral: duration(300_000),
};
