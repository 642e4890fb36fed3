// What this machine is: read from the kernel, and overridden by flags where a site knows better or
// where the kernel cannot tell. The fingerprint covers what must be alike for two nodes to run
// parts of one allocation without surprises; size of memory and number of cores are not in it.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, hostname, release, totalmem, version } from "node:os";

export interface Hardware {
  readonly cpuCores: number;
  readonly memoryGb: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly cxlMemoryGb?: number;
  readonly powerWatts?: number;
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

export function discoverHardware(flags: HardwareFlags): Hardware {
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

export function conformance(hardware: Hardware): string {
  const parts = [
    release(),
    version(),
    process.arch,
    cpus()[0]?.model ?? "",
    osRelease(),
    hardware.gpuType,
    String(hardware.gpuCount),
  ];
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}

function osRelease(): string {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return "";
  }
}
