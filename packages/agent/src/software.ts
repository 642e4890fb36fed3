// Puts together what a node offers beyond its own software: registry, cache and trust for images, an engine
// for containers, users and folders. Says in the node's capabilities what of it there is.

import { readFileSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemAfter } from "./after.ts";
import type { SoftwareOptions } from "./flags/software.ts";
import { type GpusBetweenUsers, gpusBetweenUsers } from "./gpu-clear/between-users.ts";
import { gpuClearing, isClearable } from "./gpu-clear/clear.ts";
import { openLedger } from "./gpu-clear/ledger.ts";
import { type ImageCache, openCache } from "./images/cache.ts";
import { HIGH_MILLI, LOW_MILLI } from "./images/evict.ts";
import { createImages, type Images } from "./images/images.ts";
import { openRegistry } from "./images/open-registry.ts";
import { loadTrust } from "./images/signature.ts";
import { type NetworkDriver, noDriver } from "./network/driver.ts";
import { linuxDriver, whyNoLinuxDriver } from "./network/linux.ts";
import type { PrologueParts } from "./prologue/parts.ts";
import { scratchFolders } from "./prologue/scratch.ts";
import { detectEngine, detectSarus, programFolders } from "./runtime/container/detect.ts";
import { deviceHost } from "./runtime/container/devices/host.ts";
import { type ContainerStore, pullImage, removeImage } from "./runtime/container/podman.ts";
import { containerPrograms } from "./runtime/container/programs.ts";
import { writeRuntime } from "./runtime/container/runtime-script.ts";
import { controlGroupMounts, hierarchies } from "./runtime/isolation/detect.ts";
import type { LimitGroups } from "./runtime/isolation/limit-groups.ts";
import { type Inside, nodeShares } from "./runtime/isolation/node-shares.ts";
import { discoverMemoryPlace, isExecutable } from "./runtime/memory-policy.ts";
import { rememberUsers } from "./runtime/user/users.ts";
import { fabricProvider, programFolder } from "./tasks/facilities.ts";
import { librariesFolder } from "./tasks/native-parts.ts";

/** The programs that mount from elsewhere, where a site has them. */
const S3_MOUNTER = "/usr/bin/s3fs";
const NFS_MOUNTER = "/sbin/mount.nfs";

export interface NodeSoftware {
  readonly images: Images;
  readonly prologue: PrologueParts;
  /** For the node's capabilities. */
  readonly runtimes: readonly string[];
}

export interface SoftwarePlace {
  readonly nodeId: string;
  readonly dataDir: string;
  readonly bootId: string;
  readonly limits: LimitGroups;
  readonly inside: () => Inside;
  readonly log: Logger;
}

async function networkOf(
  { network, networkUplink: uplink }: SoftwareOptions,
  { nodeId, dataDir }: SoftwarePlace,
): Promise<NetworkDriver> {
  if (network === "none") return noDriver;
  const why = await whyNoLinuxDriver();
  // A job that asks for a domain must not run outside of it.
  if (why !== null) throw new Error(`--network=linux is not possible: ${why}`);
  return linuxDriver({ nodeId, dataDir, uplink });
}

export async function openSoftware(options: SoftwareOptions, place: SoftwarePlace): Promise<NodeSoftware> {
  const { dataDir, limits, log } = place;
  const isRoot = process.getuid?.() === 0;
  const cacheDir = options.cacheDir === "" ? join(dataDir, "cache") : options.cacheDir;
  const containers = containersOf(options, cacheDir);
  const sarus = options.containerRuntime === "sarus" ? detectSarus(programFolders(process.env.PATH ?? "")) : null;
  const cache = await cacheOf(options, { ...place, cacheDir }, containers);
  const images = createImages({
    registry: options.registry === "" ? null : openRegistry(options.registry, options.registryTokenFile),
    cache,
    trust: loadTrust(options.trustedKeys, options.requireSigned),
    fullPausesMs: options.cacheFullPausesMs,
    pullContainer: typeof containers === "string" ? containers : (name, signal) => pullImage(containers, name, signal),
    log,
  });
  await mkdir(librariesFolder(dataDir), { recursive: true });
  const memory = discoverMemoryPlace(options.unifiedMemory);
  const gpus = gpusOf(options, place);
  const runtimes = [
    "bare",
    ...(isRoot && isExecutable("/usr/bin/unshare") ? ["uenv"] : []),
    ...(typeof containers === "string" ? [] : ["podman"]),
    ...(sarus === null || typeof sarus === "string" ? [] : ["sarus"]),
    ...(memory.numactl ? ["numactl"] : []),
    ...(options.userMapping.kind === "none" ? [] : ["users"]),
    ...(gpus.between === null ? [] : ["gpu-clear:nvidia"]),
    // Said as well, so that a site that must have it sees which nodes have not.
    ...(gpus.uncleared.length === 0 ? [] : [`gpu-uncleared:${gpus.uncleared.join("+")}`]),
    ...limits.controllers.map((controller) => `limit:${controller}`),
  ];
  const prologue: PrologueParts = {
    images,
    containers,
    sarus,
    offered: offeredIn(dataDir),
    devices: deviceHost(fabricProvider()),
    users: rememberUsers(Date.now),
    mapping: options.userMapping,
    memory,
    scratch: scratchFolders(options.scratchDir === "" ? join(dataDir, "scratch") : options.scratchDir),
    outputRoot: options.outputDir,
    homeSource: options.homeSource,
    sources: { allowed: options.mountAllow, s3Url: options.s3Url, s3Mounter: S3_MOUNTER, nfsMounter: NFS_MOUNTER },
    umask: options.umask,
    isRoot,
    groupParent: limits.parentOf,
    shares: nodeShares(place.inside),
    inside: place.inside,
    gpus: gpus.between,
    limits,
    network: await networkOf(options, place),
  };
  return { images, prologue, runtimes };
}

/** What every container sees: the library for MPI ranks, and the programs of Lattice. */
function offeredIn(dataDir: string): PrologueParts["offered"] {
  const sources = { folder: join(dataDir, "inside"), installed: programFolder(), node: process.execPath };
  const programs = containerPrograms(sources);
  return async () => [
    { at: librariesFolder(dataDir), readOnly: true },
    ...(await programs()).map(({ from, to }) => ({ at: from, to, readOnly: true })),
  ];
}

/** In words why there is none, or podman with what it needs. */
function containersOf(options: SoftwareOptions, cacheDir: string): ContainerStore | string {
  const { containerRuntime: choice, insecureRegistries: insecure } = options;
  if (process.getuid?.() !== 0) return "the agent does not run as root";
  if (choice === "sarus") return "containers are run by Sarus on this node";
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  const [memory = null, { v2, v1 }] = [hierarchies(mounts).get("memory"), controlGroupMounts(mounts)];
  const beside = v1 === null ? null : v2;
  const engine = detectEngine(programFolders(process.env.PATH ?? ""), choice, beside);
  if (typeof engine === "string") return engine;
  const folder = join(cacheDir, "oci");
  const hidden = engine.runtime.endsWith("/crun") ? beside : null;
  const runtime = writeRuntime(folder, { runtime: engine.runtime, memory, hidden });
  return { engine: { ...engine, runtime }, folder, insecure };
}

interface ClearedGpus {
  /** Null: what jobs leave in GPUs stays there. */
  readonly between: GpusBetweenUsers | null;
  /** Makers of those in which it stays. */
  readonly uncleared: readonly string[];
}

function gpusOf({ cudaLibrary }: SoftwareOptions, { dataDir, inside, log }: SoftwarePlace): ClearedGpus {
  const clear = gpuClearing(cudaLibrary, log);
  const uncleared = inside().units.filter((unit) => clear === null || !isClearable(unit));
  if (uncleared.length > 0)
    log.warn({ gpus: uncleared.map(({ index }) => index) }, "the memory of these GPUs is not cleared between users");
  const ledger = (): ReturnType<typeof openLedger> => openLedger(join(dataDir, "gpus.json"), log);
  return {
    between: clear === null ? null : gpusBetweenUsers({ clear, ledger: ledger(), after: systemAfter, log }),
    uncleared: [...new Set(uncleared.filter(({ fault }) => fault === "").map(({ vendor }) => vendor))],
  };
}

/** A cache of its own file system is used almost whole; the book keeps 50 GB free, a small disk a tenth. */
const CACHE_PART = 0.8;
const MIN_FREE_BYTES = 50e9;
const MIN_FREE_PART = 0.1;

async function cacheOf(
  options: SoftwareOptions,
  { cacheDir, bootId, log }: SoftwarePlace & { readonly cacheDir: string },
  containers: ContainerStore | string,
): Promise<ImageCache> {
  await mkdir(cacheDir, { recursive: true, mode: 0o711 });
  const { blocks, bsize } = await statfs(cacheDir);
  const whole = blocks * bsize;
  return openCache({
    folder: cacheDir,
    bootId,
    marks: {
      sizeBytes: options.cacheSizeBytes ?? Math.floor(whole * CACHE_PART),
      highMilli: HIGH_MILLI,
      lowMilli: LOW_MILLI,
    },
    minFreeBytes: options.cacheMinFreeBytes ?? Math.floor(Math.min(MIN_FREE_BYTES, whole * MIN_FREE_PART)),
    log,
    removeContainer: async (id) => {
      if (typeof containers !== "string") await removeImage(containers, id);
    },
  });
}
