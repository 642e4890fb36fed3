// How many processes and threads an attempt may have. The kernel has one table for all: without a limit a fork bomb in
// one attempt leaves none for its neighbours, for the agent and for an administrator who wants to end it.

import { readFileSync } from "node:fs";

/** Enough for a process and many threads on each core. */
const PER_CORE = 4_096;
const USUAL_PID_MAX = 32_768;

/** `stated`: by the site; 0 for the default. An attempt without a share of cores has all of the node's. */
export function processLimit(
  stated: number,
  nodeCores: number,
  pidMax: number = kernelLimit(),
): (cores: number) => number {
  const most = Math.floor(pidMax / 2);
  return (cores) => (stated > 0 ? stated : Math.min(most, PER_CORE * Math.max(1, cores > 0 ? cores : nodeCores)));
}

function kernelLimit(): number {
  try {
    return Number(readFileSync("/proc/sys/kernel/pid_max", "utf8"));
  } catch {
    return USUAL_PID_MAX;
  }
}
