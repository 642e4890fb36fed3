// Opens the software that a node provides to attempts: image registry, cache and trust, a container engine, users and
// directories. Lists what is available in the node's capabilities.

import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemAfter } from "../base/after.ts";
import { searchPath } from "../base/executable.ts";
import { openUserFiles } from "../files/open-user-files.ts";
import { makeOwnFolder } from "../files/own-tree.ts";
import { Trash } from "../files/trash.ts";
import type { UserFiles } from "../files/user-files.ts";
import { gpuClearing, isClearable } from "../gpu-clear/clear.ts";
import { type GpusBetweenUsers, gpusBetweenUsers } from "../gpu-clear/gpu-handover.ts";
import { openGpuOwners } from "../gpu-clear/gpu-owners.ts";
import type { LimitGroups } from "../host/isolation/limit-groups.ts";
import { type NodeInventory, nodeShares } from "../host/isolation/node-shares.ts";
import { discoverMemoryPlace } from "../host/memory-policy.ts";
import { rememberUsers } from "../host/user/users.ts";
import { type ImageCache, openCache } from "../images/cache.ts";
import { HIGH_MILLI, LOW_MILLI } from "../images/evict.ts";
import { createImages, type Images } from "../images/images.ts";
import { openRegistry } from "../images/open-registry.ts";
import { loadTrust } from "../images/signature.ts";
import { type NetworkDriver, noDriver } from "../network/driver.ts";
import { linuxDriver, whyNoLinuxDriver } from "../network/linux.ts";
import type { SoftwareOptions } from "../options/software.ts";
import type { PrologueParts } from "../runtime/base/engine.ts";
import { SCRATCH_TRASH, ScratchFolders } from "../runtime/base/scratch.ts";
import { containerPrograms } from "../runtime/container/programs.ts";
import { deviceHost } from "../runtime/devices/host.ts";
import { openContainerEngine } from "../runtime/engines.ts";
import { processEngine } from "../runtime/process/engine.ts";
import { fabricProvider, programFolder } from "../tasks/facilities.ts";
import { librariesFolder } from "../tasks/native-parts.ts";
import { openEntry } from "./entry.ts";

/** Programs for remote mounts, where installed. */
const S3_MOUNTER = "/usr/bin/s3fs";
const NFS_MOUNTER = "/sbin/mount.nfs";

export interface NodeSoftware {
  readonly images: Images;
  readonly prologue: PrologueParts;
  /** For the node's capabilities. */
  readonly runtimes: readonly string[];
}

interface SoftwarePlace {
  readonly nodeId: string;
  readonly dataDir: string;
  readonly bootId: string;
  readonly limits: LimitGroups;
  readonly files: UserFiles;
  /** The authority of the servers' certificates, if any. */
  readonly ca: string | undefined;
  readonly inside: () => NodeInventory;
  readonly log: Logger;
}

async function networkOf(
  { network, networkUplink: uplink }: SoftwareOptions,
  { nodeId, dataDir }: SoftwarePlace,
): Promise<NetworkDriver> {
  if (network === "none") return noDriver;
  const why = await whyNoLinuxDriver(uplink);
  // A job that requests a domain must not run outside of it.
  if (why !== null) throw new Error(`--network=linux is not possible: ${why}`);
  return linuxDriver({ nodeId, dataDir, uplink });
}

/** File operations below the folders of users. */
export const openFiles = ({ userMapping, rootJobs }: SoftwareOptions): Promise<UserFiles> =>
  openUserFiles({ isRoot: process.getuid?.() === 0, jobsAreRoot: userMapping.kind === "none" || rootJobs });

export async function openSoftware(options: SoftwareOptions, place: SoftwarePlace): Promise<NodeSoftware> {
  const { dataDir, limits, files, log } = place;
  const isRoot = process.getuid?.() === 0;
  const cacheDir = options.cacheDir === "" ? join(dataDir, "cache") : options.cacheDir;
  const container = openContainerEngine({
    choice: options.containerRuntime,
    cacheDir,
    insecureRegistries: options.insecureRegistries,
    path: searchPath(process.env.PATH ?? ""),
    isRoot,
  });
  const cache = await cacheOf(options, { ...place, cacheDir }, container.removeImage);
  const images = createImages({
    registry: options.registry === "" ? null : openRegistry(options.registry, options.registryTokenFile),
    cache,
    trust: loadTrust(options.trustedKeys, options.requireSigned),
    fullPausesMs: options.cacheFullPausesMs,
    allowedRegistries: options.allowedRegistries,
    pullContainer: container.pull,
    log,
  });
  await makeOwnFolder(librariesFolder(dataDir), 0o755);
  if (options.outputDir !== "") await makeOwnFolder(options.outputDir, 0o755);
  const memory = discoverMemoryPlace(options.unifiedMemory);
  const gpus = gpusOf(options, place);
  const scratchDir = options.scratchDir === "" ? join(dataDir, "scratch") : options.scratchDir;
  const trashIn = (folder: string) => new Trash({ folder, files, log });
  const offers = [librariesFolder(dataDir), ...(place.ca === undefined ? [] : [place.ca])];
  const entry = openEntry({ ...options, isRoot, protects: [dataDir, cacheDir, scratchDir], offers, log });
  const runtimes = [
    "bare",
    ...(entry.whyNoMounts === null ? ["uenv"] : []),
    ...(container.name === "" ? [] : [container.name]),
    ...(memory.numactl ? ["numactl"] : []),
    ...(options.userMapping.kind === "none" ? [] : ["users"]),
    ...(gpus.between === null ? [] : ["gpu-clear:nvidia"]),
    // Listed too, so that a site that requires clearing sees which nodes lack it.
    ...(gpus.uncleared.length === 0 ? [] : [`gpu-uncleared:${gpus.uncleared.join("+")}`]),
    ...limits.controllers.map((controller) => `limit:${controller}`),
  ];
  const prologue: PrologueParts = {
    files,
    images,
    engines: { process: processEngine, container },
    offered: offeredIn(place),
    devices: deviceHost(fabricProvider()),
    users: rememberUsers(Date.now, options),
    mapping: options.userMapping,
    memory,
    scratch: new ScratchFolders(scratchDir, trashIn(join(scratchDir, SCRATCH_TRASH))),
    trash: trashIn(join(dataDir, "trash")),
    entry,
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

/** Mounted into every container: the library for MPI ranks, and the programs of Lattice. */
function offeredIn({ dataDir, ca }: SoftwarePlace): PrologueParts["offered"] {
  const sources = { folder: join(dataDir, "inside"), installed: programFolder(), node: process.execPath };
  const programs = containerPrograms(sources);
  return async () => [
    { at: librariesFolder(dataDir), readOnly: true },
    // The authority that the API is checked by.
    ...(ca === undefined ? [] : [{ at: ca, readOnly: true }]),
    ...(await programs()).map(({ from, to }) => ({ at: from, to, readOnly: true })),
  ];
}

interface ClearedGpus {
  /** `null` when GPU memory is not cleared. */
  readonly between: GpusBetweenUsers | null;
  /** Vendors of GPUs that cannot be cleared. */
  readonly uncleared: readonly string[];
}

function gpusOf({ cudaLibrary }: SoftwareOptions, { dataDir, inside, log }: SoftwarePlace): ClearedGpus {
  const clear = gpuClearing(cudaLibrary, log);
  const uncleared = inside().units.filter((unit) => clear === null || !isClearable(unit));
  if (uncleared.length > 0)
    log.warn({ gpus: uncleared.map(({ index }) => index) }, "GPU memory is not cleared between users");
  const ledger = (): ReturnType<typeof openGpuOwners> => openGpuOwners(join(dataDir, "gpus.json"), log);
  return {
    between: clear === null ? null : gpusBetweenUsers({ clear, ledger: ledger(), after: systemAfter, log }),
    uncleared: [...new Set(uncleared.filter(({ fault }) => fault === "").map(({ vendor }) => vendor))],
  };
}

/** A cache with its own file system uses almost all of it. Free space stays at 50 GB, or a tenth of a small disk. */
const CACHE_PART = 0.8;
const MIN_FREE_BYTES = 50e9;
const MIN_FREE_PART = 0.1;

async function cacheOf(
  options: SoftwareOptions,
  { cacheDir, bootId, log }: SoftwarePlace & { readonly cacheDir: string },
  removeContainer: (id: string) => Promise<void>,
): Promise<ImageCache> {
  await makeOwnFolder(cacheDir, 0o711);
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
    removeContainer,
  });
}
