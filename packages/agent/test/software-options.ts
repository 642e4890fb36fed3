// Default software options of agents in tests: only the node's own programs.

import { FULL_PAUSES_MS } from "../src/images/images.ts";
import type { SoftwareOptions } from "../src/options/software.ts";

export const DEFAULT_SOFTWARE: SoftwareOptions = {
  userMapping: { kind: "none" },
  minUid: 1_000,
  rootJobs: false,
  allowUnauthenticated: false,
  umask: "0022",
  privateTmp: null,
  privateTmpBytes: null,
  registry: "",
  insecureRegistries: [],
  allowedRegistries: [],
  containerRuntime: "auto",
  trustedKeys: [],
  requireSigned: false,
  cacheDir: "",
  cacheSizeBytes: null,
  cacheMinFreeBytes: null,
  cacheFullPausesMs: FULL_PAUSES_MS,
  scratchDir: "",
  outputDir: "",
  homeSource: "",
  mountAllow: [],
  s3Url: "",
  registryTokenFile: "",
  unifiedMemory: false,
  cudaLibrary: "",
  network: "none",
  networkUplink: "",
};
