// The flags for the users of workloads, and for their software and folders.

import { type Command, InvalidArgumentError, Option } from "commander";
import { parseUserMapping, type UserMapping } from "../host/user/user.ts";
import { FULL_PAUSES_MS } from "../images/images.ts";
import { ENGINE_CHOICES } from "../runtime/engines.ts";
import { type DataOptions, dataOptions, withData } from "./data.ts";
import { bytes, positive, someBytes, umask, whole } from "./values.ts";

export interface SoftwareOptions extends DataOptions {
  readonly userMapping: UserMapping;
  /** Accounts with lower uids run no jobs. */
  readonly minUid: number;
  /** With a mapping: jobs of the user root run as root. */
  readonly rootJobs: boolean;
  /** Jobs may run as users that no server has authenticated. */
  readonly allowUnauthenticated: boolean;
  readonly umask: string;
  /** Own /tmp and /dev/shm for each attempt; `null` wherever the node can provide them. */
  readonly privateTmp: boolean | null;
  /** The own /tmp is in memory, of this size; `null`: below the data folder, without a limit. */
  readonly privateTmpBytes: number | null;
  /** A folder, http(s):// or oci://; empty for none. */
  readonly registry: string;
  readonly insecureRegistries: readonly string[];
  /** Registries, or repositories of them, of container images; empty: any. */
  readonly allowedRegistries: readonly string[];
  readonly containerRuntime: string;
  /** PEM files. */
  readonly trustedKeys: readonly string[];
  readonly requireSigned: boolean;
  /** Empty for a folder below the data folder. */
  readonly cacheDir: string;
  /** `null` for four fifths of the file system. */
  readonly cacheSizeBytes: number | null;
  readonly cacheMinFreeBytes: number | null;
  readonly cacheFullPausesMs: readonly number[];
  /** Empty for a folder below the data folder. */
  readonly scratchDir: string;
  /** Empty when allocations get no output folder. */
  readonly outputDir: string;
  readonly unifiedMemory: boolean;
  /** The library that clears GPUs: a path, "none", or empty to search for it. */
  readonly cudaLibrary: string;
  /** The driver of network domains. */
  readonly network: "none" | "linux";
  /** The device over which domains reach other nodes; empty when they do not. */
  readonly networkUplink: string;
}

export interface SoftwareFlags extends DataOptions {
  userMapping: UserMapping;
  minUid: number;
  rootJobs: boolean;
  allowUnauthenticated: boolean;
  umask: string;
  privateTmp?: string;
  privateTmpSize?: number;
  registry: string;
  insecureRegistry: string[];
  allowRegistry: string[];
  containerRuntime: string;
  trustedKey: string[];
  requireSigned: boolean;
  cacheDir: string;
  cacheSize?: number;
  cacheMinFree?: number;
  cacheFullWait: number;
  scratchDir: string;
  outputDir: string;
  unifiedMemory: boolean;
  cudaLibrary: string;
  network: string;
  networkUplink: string;
}

export const softwareOptions = (flags: SoftwareFlags): SoftwareOptions => ({
  userMapping: flags.userMapping,
  minUid: flags.minUid,
  rootJobs: flags.rootJobs,
  allowUnauthenticated: flags.allowUnauthenticated,
  umask: flags.umask,
  privateTmp: flags.privateTmp === undefined ? null : flags.privateTmp === "yes",
  privateTmpBytes: flags.privateTmpSize ?? null,
  registry: flags.registry,
  insecureRegistries: flags.insecureRegistry,
  allowedRegistries: flags.allowRegistry,
  containerRuntime: flags.containerRuntime,
  trustedKeys: flags.trustedKey,
  requireSigned: flags.requireSigned,
  cacheDir: flags.cacheDir,
  cacheSizeBytes: flags.cacheSize ?? null,
  cacheMinFreeBytes: flags.cacheMinFree ?? null,
  cacheFullPausesMs: fullPauses(flags.cacheFullWait),
  scratchDir: flags.scratchDir,
  outputDir: flags.outputDir,
  ...dataOptions(flags),
  unifiedMemory: flags.unifiedMemory,
  cudaLibrary: flags.cudaLibrary,
  network: flags.network === "linux" ? "linux" : "none",
  networkUplink: flags.networkUplink,
});

/** `userMapping` comes from the environment. */
export function withSoftware(command: Command, userMapping: string | undefined): Command {
  const usual = userMapping === undefined ? defaultMapping() : mapping(userMapping);
  return withData(command)
    .addOption(
      new Option("--user-mapping <how>", "run as the submitting user: none, passwd or file:/PATH")
        .argParser(mapping)
        .default(usual, usual.kind === "file" ? `file:${usual.path}` : usual.kind),
    )
    .option(
      "--min-uid <uid>",
      "with a mapping: accounts with a lower uid run no jobs",
      whole(1, MAX_MIN_UID),
      DEFAULT_MIN_UID,
    )
    .option("--root-jobs", "with a mapping: run jobs of the user root as root, as `lattice up` does", false)
    .option("--allow-unauthenticated", "with a mapping: serve a cluster that does not authenticate its users", false)
    .option("--umask <mode>", "umask of workloads", umask, "0022")
    .addOption(
      new Option(
        "--private-tmp <how>",
        "own /tmp and /dev/shm for each allocation (default: yes, for jobs that run as their user)",
      ).choices(["yes", "no"]),
    )
    .option(
      "--private-tmp-size <size>",
      "keep the own /tmp in memory, up to this size, such as 8GB (default: below the data directory, unlimited)",
      someBytes,
    )
    .option("--registry <where>", "registry of uenv images: a folder, http(s)://... or oci://...", "")
    .option("--insecure-registry <host:port>", "a container registry without TLS (repeatable)", listed, [])
    .option(
      "--allow-registry <registry>",
      "allowed registries for container images: registry.example.com, docker.io/library (repeatable; default: any)",
      registryPlace,
      [],
    )
    .addOption(
      new Option("--container-runtime <name>", "container engine for images; auto takes the first that is installed")
        .choices([...ENGINE_CHOICES])
        .default("auto"),
    )
    .option("--trusted-key <file>", "public key (PEM) that verifies image signatures (repeatable)", listed, [])
    .option("--require-signed", "run signed images only", false)
    .option("--cache-dir <path>", "folder for images (default: below the data directory)", "")
    .option("--cache-size <size>", "maximum size of the image cache, such as 200GB", bytes)
    .option("--cache-min-free <size>", "free space to leave on the cache's file system", bytes)
    .option("--cache-full-wait <seconds>", "how long an attempt waits for room in a full cache", positive, 300)
    .option(
      "--scratch-dir <path>",
      "folder for scratch directories of allocations (default: below the data directory)",
      "",
    )
    .option("--output-dir <path>", "folder for output and checkpoints of allocations", "")
    .option("--unified-memory", "CPUs and GPUs share their memory: memory policies have no effect", false)
    .option(
      "--cuda-library <path>",
      "CUDA driver library that clears GPU memory on release, or none (default: found automatically)",
      "",
    )
    .addOption(
      new Option("--network <driver>", "how network domains are isolated: by the fabric, or by this machine")
        .choices(["none", "linux"])
        .default("none"),
    )
    .option("--network-uplink <device>", "with --network=linux: the device over which domains reach other nodes", "");
}

/** Linux gives ordinary accounts uids from here on. */
const DEFAULT_MIN_UID = 1_000;
const MAX_MIN_UID = 2 ** 31;

/** Jobs must not run as root by default. */
const defaultMapping = (): UserMapping => ({ kind: process.getuid?.() === 0 ? "passwd" : "none" });

function mapping(text: string): UserMapping {
  const parsed = parseUserMapping(text);
  if (parsed === null) throw new InvalidArgumentError("must be none, passwd or file:/PATH.");
  if (parsed.kind !== "none" && process.getuid?.() !== 0) {
    throw new InvalidArgumentError("only an agent that runs as root can run workloads as other users.");
  }
  return parsed;
}

/** The default steps, scaled to the requested time. */
function fullPauses(seconds: number): readonly number[] {
  const usual = FULL_PAUSES_MS.reduce((sum, ms) => sum + ms, 0);
  return FULL_PAUSES_MS.map((ms) => Math.round((ms * seconds * 1000) / usual));
}

function registryPlace(text: string, list: string[]): string[] {
  if (!/^[a-z0-9][\w.-]*(:\d+)?(\/[\w.-]+)*$/i.test(text))
    throw new InvalidArgumentError("must be a registry, host or host:port, with a path where needed.");
  return [...list, text];
}

const listed = (text: string, list: string[]): string[] => [...list, text];
