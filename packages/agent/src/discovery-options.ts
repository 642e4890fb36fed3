// How an agent looks at its node: which libraries it asks, and how often.

import { FINGERPRINT_EVERY_MS, LOOK_EVERY_MS } from "./condition/condition.ts";

/** How the node is looked at, and how often. */
export interface DiscoveryOptions {
  /** Path of NVML; empty: wherever it is; "none": not asked. */
  readonly nvml: string;
  /** Path of rocm-smi; likewise. */
  readonly rocm: string;
  /** Digest of the image that the node was booted from; empty: not stated. */
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
