// The flags for hardware discovery: which libraries to use, and how often.

import type { Command } from "commander";
import { FINGERPRINT_EVERY_MS, LOOK_EVERY_MS } from "../condition/condition.ts";
import { positive } from "./values.ts";

/** Options of the hardware survey. */
export interface DiscoveryOptions {
  /** Path of NVML; empty to search for it, "none" to skip it. */
  readonly nvml: string;
  /** Path of rocm-smi; likewise. */
  readonly rocm: string;
  /** Digest of the image that the node was booted from; empty when not stated. */
  readonly baseImage: string;
  readonly fingerprintEveryMs: number;
  readonly lookEveryMs: number;
}

export const DEFAULT_DISCOVERY: DiscoveryOptions = {
  nvml: "",
  rocm: "",
  baseImage: "",
  fingerprintEveryMs: FINGERPRINT_EVERY_MS,
  lookEveryMs: LOOK_EVERY_MS,
};

export interface DiscoveryFlags {
  nvmlLibrary: string;
  rocmSmi: string;
  baseImage: string;
  conformanceInterval: number;
  healthInterval: number;
}

export const discoveryOptions = (flags: DiscoveryFlags): DiscoveryOptions => ({
  nvml: flags.nvmlLibrary,
  rocm: flags.rocmSmi,
  baseImage: flags.baseImage,
  fingerprintEveryMs: flags.conformanceInterval * 1000,
  lookEveryMs: flags.healthInterval * 1000,
});

export function withDiscovery(command: Command): Command {
  return command
    .option("--nvml-library <path>", "NVIDIA's management library, or none (default: wherever it is)", "")
    .option("--rocm-smi <path>", "AMD's management program, or none (default: wherever it is)", "")
    .option("--base-image <digest>", "of the image this node was booted from; part of its fingerprint", "")
    .option("--conformance-interval <seconds>", "how often the fingerprint is taken", positive, 6 * 3600)
    .option("--health-interval <seconds>", "interval of the check for faults", positive, 60);
}
