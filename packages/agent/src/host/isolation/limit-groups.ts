// Limits of memory, CPU, devices and the number of processes for one attempt: by the controllers of cgroup v2 where they are enabled, by the
// hierarchies of v1 otherwise. Every attempt joins a memory group, limited or not, since only that counts OOM kills.
// In v1 such a group costs milliseconds, so exclusive attempts share one.

import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { pb } from "@lattice/wire";
import { makeOwnFolder } from "../../files/own-tree.ts";
import { keysOf, makeGroup, removeBelow, removeEmpty } from "./group-folder.ts";
import { memoryBytesOf } from "./node-shares.ts";

export interface LimitGroups {
  /** For the node's capabilities: "memory", "cpu", "devices", "cpuset", "pids". */
  readonly controllers: readonly string[];
  /** Returns the files by which the wrapper joins. `contained`: an engine creates groups below that of the attempt. */
  prepare(key: string, share: pb.RunLimits | null, contained?: boolean): Promise<readonly string[]>;
  /** Denies these devices ("195:0") to the attempt, where the kernel supports it. */
  withoutDevices(key: string, devices: readonly string[]): Promise<void>;
  /** Keeps the attempt to these cores, and to the memory of these NUMA nodes unless null. */
  pin(key: string, cpus: readonly number[], memory: readonly number[] | null): Promise<void>;
  /** Returns the group that counts the memory of the attempt, or null. */
  memoryGroup(key: string): MemoryGroup | null;
  /** Returns how often the kernel killed a process of the attempt for lack of memory. */
  oomKills(key: string): Promise<number>;
  /** Returns the limit of processes that the attempt has reached, or null. */
  reachedProcesses(key: string): number | null;
  /** Whether its group has no limits of its own and has counted nothing, so that another exclusive attempt may use it. */
  isClean(key: string): boolean;
  remove(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
  /** Returns the path of its groups below each hierarchy, for an engine that creates groups itself. */
  parentOf(key: string): string;
  /** Leaves nothing behind when nothing runs. */
  close(): Promise<void>;
}

export interface MemoryGroup {
  readonly folder: string;
  readonly version: 1 | 2;
  /** False for the group that exclusive attempts share, one after the other. */
  readonly isOwn: boolean;
}

export interface Hierarchies {
  /** The folder of this agent's groups in v2, when its groups have the memory controller. */
  readonly v2: string | null;
  /** Whether the cpuset controller is available too. */
  readonly v2Cpuset?: boolean;
  readonly v2Pids?: boolean;
  /** Processes and threads of an attempt with this many cores (0: all); absent for no limit. */
  readonly maxPids?: (cores: number) => number;
  /** Path of the parent group below the mount. Default: the root. */
  readonly v2Base?: string;
  /** Mount points of v1 by controller. */
  readonly v1: ReadonlyMap<string, string>;
  /** Denies devices in the attempt's v2 group; absent where unsupported, or where v1 does it. */
  readonly denyDevices?: (key: string, devices: readonly string[]) => Promise<void>;
}

const CPU_PERIOD_US = 100_000;
/** Stands for the attempt's name. */
const WHOLE_NODE = "whole";
const WANTED = ["memory", "cpu", "devices", "cpuset", "pids"] as const;

/** `name` is the prefix of this agent's groups. */
export function limitGroups(
  { v2, v2Base = "", v1, v2Cpuset = false, v2Pids = false, denyDevices, maxPids }: Hierarchies,
  name: string,
): LimitGroups {
  const own = WANTED.filter((controller) => v1.has(controller) && (controller !== "pids" || maxPids !== undefined));
  const folder = (controller: string, key: string): string =>
    join(v1.get(controller) ?? "", "lattice", `${name}${key}`);
  const all = [...new Set(v1.values())];

  /** Synchronous: the kernel answers from memory. */
  const killsIn = (file: string): number => {
    try {
      return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  };

  /** A group that counted a kill is removed with its attempt, so that the count belongs to one attempt. */
  const whole = folder("memory", WHOLE_NODE);
  const killsInWhole = (): number => killsIn(join(whole, "memory.oom_control"));

  const wholePids = folder("pids", WHOLE_NODE);
  const countsPids = v2 === null ? own.includes("pids") : v2Pids && maxPids !== undefined;

  /** Keys of exclusive attempts outside of containers: no limits of their own, and in v1 no groups of their own. */
  const unlimited = new Set<string>();
  /** The limit of processes that this agent has written to a shared group. */
  const written: WrittenLimits = new Map();

  /** Beside the group of an exclusive container, its engine would create one without a limit. */
  const pidsGroup = (key: string, contained: boolean): string => (contained ? folder("pids", key) : wholePids);

  async function joinWhole(key: string, contained: boolean): Promise<readonly string[]> {
    const pids =
      maxPids === undefined || !countsPids ? [] : await joinPids(pidsGroup(key, contained), maxPids(0), written);
    if (!own.includes("memory")) return pids;
    // Left by an attempt that still had processes when it was cleared.
    if (killsInWhole() > 0) await removeBelow(whole);
    if (!existsSync(whole)) makeGroup(whole);
    return [join(whole, "tasks"), ...pids];
  }

  const limited: readonly string[] =
    v2 === null ? own : ["memory", "cpu", ...(v2Cpuset ? ["cpuset"] : []), ...(countsPids ? ["pids"] : [])];
  const controllers = denyDevices === undefined ? limited : [...limited, "devices"];
  return {
    controllers,
    async prepare(key, share, contained = false) {
      if (share === null && !contained) unlimited.add(key);
      else unlimited.delete(key);
      if (v2 === null)
        return share === null
          ? joinWhole(key, contained)
          : limitV1(own, (controller) => folder(controller, key), { share, maxPids });
      const group = `${v2}${key}`;
      await makeOwnFolder(group, 0o755);
      if (share !== null && memoryBytesOf(share) > 0) await put(group, "memory.max", memoryBytesOf(share));
      if (share !== null && share.cpuCores > 0) {
        await put(group, "cpu.max", `${share.cpuCores * CPU_PERIOD_US} ${CPU_PERIOD_US}`);
      }
      if (countsPids && maxPids !== undefined) await put(group, "pids.max", maxPids(share?.cpuCores ?? 0));
      // The wrapper always joins this group: it holds the process tree together.
      return [];
    },
    async withoutDevices(key, devices) {
      if (denyDevices !== undefined && devices.length > 0) await denyDevices(key, devices);
      if (!own.includes("devices") || v2 !== null) return;
      for (const device of devices) await put(folder("devices", key), "devices.deny", `c ${device} rwm`);
    },
    async pin(key, cpus, memory) {
      if (!controllers.includes("cpuset")) return;
      const group = v2 === null ? folder("cpuset", key) : `${v2}${key}`;
      await put(group, "cpuset.cpus", cpus.join(","));
      if (memory !== null) await put(group, "cpuset.mems", memory.join(","));
    },
    memoryGroup(key) {
      if (v2 !== null) return { folder: `${v2}${key}`, version: 2, isOwn: true };
      if (!own.includes("memory")) return null;
      const group = folder("memory", key);
      const isOwn = existsSync(group);
      return { folder: isOwn ? group : whole, version: 1, isOwn };
    },
    async oomKills(key) {
      if (v2 !== null) return killsIn(`${v2}${key}/memory.events`);
      const group = folder("memory", key);
      return existsSync(group) ? killsIn(join(group, "memory.oom_control")) : killsInWhole();
    },
    reachedProcesses(key) {
      if (!countsPids) return null;
      const ownGroup = v2 === null ? folder("pids", key) : `${v2}${key}`;
      const group = existsSync(ownGroup) ? ownGroup : wholePids;
      return hitsIn(group) > 0 ? Number(readOr(join(group, "pids.max"))) : null;
    },
    isClean(key) {
      if (!unlimited.has(key)) return false;
      if (v2 !== null) return killsIn(`${v2}${key}/memory.events`) === 0 && hitsIn(`${v2}${key}`) === 0;
      return killsInWhole() === 0 && !(countsPids && hitsIn(wholePids) > 0);
    },
    async remove(key) {
      if (v2 === null && countsPids && hitsIn(wholePids) > 0) await removeBelow(wholePids);
      if (killsInWhole() > 0) await removeBelow(whole);
      // In v1 it has joined the shared groups only.
      if (unlimited.delete(key) && v2 === null) return;
      for (const mount of all) {
        const group = join(mount, "lattice", `${name}${key}`);
        if (existsSync(group)) await removeBelow(group);
      }
    },
    async keys() {
      const found = new Set<string>();
      for (const mount of all) for (const key of await keysOf(join(mount, "lattice", name))) found.add(key);
      found.delete(WHOLE_NODE);
      return [...found];
    },
    parentOf: (key) => `${v2 === null ? "" : v2Base}/lattice/${name}${key}`,
    async close() {
      removeEmpty(whole);
      if (v2 === null && countsPids) removeEmpty(wholePids);
    },
  };
}

interface V1Limits {
  readonly share: pb.RunLimits;
  readonly maxPids: Hierarchies["maxPids"];
}

async function limitV1(
  controllers: readonly string[],
  folder: (controller: string) => string,
  { share, maxPids }: V1Limits,
): Promise<readonly string[]> {
  const joins: string[] = [];
  for (const controller of controllers) {
    const group = folder(controller);
    makeGroup(group);
    if (controller === "cpuset") await inheritCores(group);
    if (controller === "pids") await put(group, "pids.max", maxPids?.(share.cpuCores) ?? "max");
    else await writeLimit(controller, group, share);
    // Writing to `tasks` moves the single thread of the command without a kernel wait.
    joins.push(join(group, "tasks"));
  }
  return joins;
}

type WrittenLimits = Map<string, number>;

/** A group that has refused a process is replaced, so that the count belongs to one attempt. */
async function joinPids(group: string, most: number, written: WrittenLimits): Promise<readonly string[]> {
  if (hitsIn(group) > 0) await removeBelow(group);
  if (!existsSync(group)) {
    makeGroup(group);
    written.delete(group);
  }
  if (written.get(group) !== most) await put(group, "pids.max", most);
  if (basename(group).endsWith(WHOLE_NODE)) written.set(group, most);
  return [join(group, "tasks")];
}

/** How often a fork failed at the limit of the group. */
const hitsIn = (group: string): number => Number(/^max (\d+)$/m.exec(readOr(join(group, "pids.events")))?.[1] ?? 0);

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function writeLimit(controller: string, group: string, share: pb.RunLimits): Promise<void> {
  if (controller === "memory" && memoryBytesOf(share) > 0)
    await put(group, "memory.limit_in_bytes", memoryBytesOf(share));
  if (controller === "cpu" && share.cpuCores > 0) {
    await put(group, "cpu.cfs_period_us", CPU_PERIOD_US);
    await put(group, "cpu.cfs_quota_us", share.cpuCores * CPU_PERIOD_US);
  }
}

/** A new v1 group has no cores and no memory, so no process could join it. A group that is pinned stays pinned. */
async function inheritCores(group: string): Promise<void> {
  const parent = dirname(group);
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const above = (await readFile(join(dirname(parent), file), "utf8")).trim();
    if ((await readFile(join(parent, file), "utf8")).trim() === "") await put(parent, file, above);
    if ((await readFile(join(group, file), "utf8")).trim() !== "") continue;
    await put(group, file, (await readFile(join(parent, file), "utf8")).trim());
  }
}

async function put(group: string, file: string, value: number | string): Promise<void> {
  await writeFile(join(group, file), String(value), { flag: "r+" });
}

const CONTROLLERS: readonly string[] = ["memory", "cpu", "cpuset", "pids"];

/** Enables controllers for the groups below `prefix`; returns the enabled ones. */
export async function enableControllers(prefix: string, wanted = CONTROLLERS): Promise<readonly string[]> {
  const parent = dirname(prefix);
  await makeOwnFolder(parent, 0o755);
  for (const dir of [dirname(parent), parent]) {
    if (!(await enabledIn(dir, wanted))) continue;
    await makeRoomIn(dir);
    await enabledIn(dir, wanted);
  }
  const enabled = await readFile(join(parent, "cgroup.subtree_control"), "utf8").catch(() => "");
  return basename(parent) === "lattice" ? enabled.split(/\s+/).filter((name) => name !== "") : [];
}

/** Returns true when the group has processes: such a group cannot give controllers to its children. */
async function enabledIn(dir: string, controllers: readonly string[]): Promise<boolean> {
  let busy = false;
  // One write per controller: a missing one must not cost the others.
  for (const controller of controllers) {
    await writeFile(join(dir, "cgroup.subtree_control"), `+${controller}`, { flag: "r+" }).catch(
      ({ code }: NodeJS.ErrnoException) => {
        busy ||= code === "EBUSY";
      },
    );
  }
  return busy;
}

/** When the agent runs in a delegated group, it moves itself into this child. */
const OWN_GROUP = "agent";

async function makeRoomIn(dir: string): Promise<void> {
  const own = join(dir, OWN_GROUP);
  await makeOwnFolder(own, 0o755).catch(() => undefined);
  const pids = await readFile(join(dir, "cgroup.procs"), "utf8").catch(() => "");
  for (const pid of pids.split("\n").filter((line) => line !== "")) {
    // A process that has ended, or may not be moved, does not stop the others.
    await writeFile(join(own, "cgroup.procs"), pid, { flag: "r+" }).catch(() => undefined);
  }
}
