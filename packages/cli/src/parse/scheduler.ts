// Parses the scheduler of a vCluster, written with dashes or underscores: "hpc-backfill" or "hpc_backfill".

import type { SchedulerType } from "@lattice/sdk";
import { InvalidArgumentError } from "commander";

export const SCHEDULERS: readonly SchedulerType[] = [
  "hpc_backfill",
  "ml_training",
  "service_bin_pack",
  "interactive_fifo",
  "sensitive_reservation",
];

export const dashed = (name: string): string => name.replaceAll("_", "-");

export function parseScheduler(text: string): SchedulerType {
  const found = SCHEDULERS.find((one) => one === text.toLowerCase().replaceAll("-", "_"));
  if (found === undefined) throw new InvalidArgumentError(`Known schedulers: ${SCHEDULERS.map(dashed).join(", ")}.`);
  return found;
}
