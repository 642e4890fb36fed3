// The hardware of this machine in the units that allocations request, read from the kernel and overridden by flags.

import { readFileSync } from "node:fs";
import { availableParallelism, hostname, release, totalmem } from "node:os";
import type { GpuTopology, MemoryTopology } from "@lattice/core";

export interface NodeHardware {
  readonly cpuCores: number;
  readonly memoryGb: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly cxlMemoryGb?: number;
  readonly powerWatts?: number;
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
  readonly features: readonly string[];
  readonly hostname: string;
  readonly kernel: string;
}

export interface HardwareFlags {
  readonly cpuCores?: number | undefined;
  readonly memoryGb?: number | undefined;
  readonly gpuType?: string | undefined;
  readonly gpuCount?: number | undefined;
  readonly cxlMemoryGb?: number | undefined;
  readonly powerWatts?: number | undefined;
  readonly features: readonly string[];
}

const BYTES_PER_GB = 1024 ** 3;

export function discoverHardware(flags: HardwareFlags): NodeHardware {
  return {
    cpuCores: flags.cpuCores ?? availableParallelism(),
    memoryGb: flags.memoryGb ?? totalmem() / BYTES_PER_GB,
    gpuType: flags.gpuType ?? "",
    gpuCount: flags.gpuCount ?? 0,
    cxlMemoryGb: flags.cxlMemoryGb ?? 0,
    powerWatts: flags.powerWatts ?? 0,
    features: [...new Set(flags.features)].sort((a, b) => (a < b ? -1 : 1)),
    hostname: hostname(),
    kernel: release(),
  };
}

/** Changes with every boot, stays over restarts of the agent. */
export function discoverBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
}
