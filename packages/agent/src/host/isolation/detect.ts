// Finds the best isolation that works on this machine by trying it: a group is created and a process moved into it.
// Mounts are looked up, since v2 may be mounted next to v1. Group names start with the node and the data folder, since
// several agents may share a machine.

import { createHash } from "node:crypto";
import { accessSync, readFileSync, rmdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HELPER_ENVIRONMENT, spawnSync } from "../../base/programs.ts";
import { makeOwnFolderNow } from "../../files/own-tree.ts";
import { denyDevices, whyNotDeny } from "./devices/deny.ts";
import { holdsOnly, keysOf, makeGroup, membersBelow, removeBelow, removeEmpty } from "./group-folder.ts";
import { type Isolation, signalEach } from "./isolation.ts";
import { enableControllers, type Hierarchies, type LimitGroups, limitGroups } from "./limit-groups.ts";
import { type ProcessReader, processGroup } from "./process-group.ts";

interface AgentPlace {
  readonly nodeId: string;
  readonly dataDir: string;
}

/** `only` restricts detection to one kind, for tests and site policy. */
export function detectIsolation(place: AgentPlace, reader: ProcessReader, only?: Isolation["kind"]): Isolation {
  if (only === "process_group") return processGroup(reader);
  const mounts = controlGroupMounts(readOr("/proc/self/mountinfo"));
  if (only !== "cgroup1" && mounts.v2 !== null) {
    for (const base of [mounts.v2, join(mounts.v2, ownGroup(readOr("/proc/self/cgroup")))]) {
      const prefix = join(base, "lattice", groupPrefix(place));
      if (works(prefix, ["cgroup.kill"])) return cgroup2(prefix);
    }
  }
  if (only !== "cgroup2" && mounts.v1 !== null) {
    const prefix = join(mounts.v1, "lattice", groupPrefix(place));
    if (works(prefix, [])) return cgroup1(prefix);
  }
  return processGroup(reader);
}

/**
 * Finds where limits can be set and OOM kills be counted. `devices`: the node has devices that attempts must not
 * share.
 */
export async function detectLimits(
  place: AgentPlace,
  isolation: Isolation,
  { devices = false, maxPids }: { readonly devices?: boolean; readonly maxPids?: (cores: number) => number } = {},
): Promise<LimitGroups> {
  const info = readOr("/proc/self/mountinfo");
  const name = groupPrefix(place);
  const { v2 } = controlGroupMounts(info);
  // The agent's groups may be in a delegated group instead of the root.
  const prefix = v2 !== null && isolation.kind === "cgroup2" ? isolation.folderOf("") : null;
  const v2Base = v2 === null || prefix === null ? "" : dirname(dirname(prefix)).slice(v2.length).replace(/\/$/, "");
  const enabled = prefix === null ? [] : await enableControllers(prefix);
  const byV2 = enabled.includes("memory");
  if (isolation.kind === "process_group") return limitGroups({ v2: null, v1: new Map() }, name);
  const v2Cpuset = enabled.includes("cpuset");
  const v2Pids = enabled.includes("pids");
  const pids = maxPids === undefined ? {} : { maxPids };
  const v1 = byV2 ? new Map<string, string>() : hierarchies(info);
  const byProgram = devices && !v1.has("devices") ? await deviceFilter(isolation) : {};
  return limitGroups({ v2: byV2 ? prefix : null, v2Base, v2Cpuset, v2Pids, v1, ...byProgram, ...pids }, name);
}

/** cgroup v2 has no device controller: a BPF program attached to the group decides. */
async function deviceFilter(isolation: Isolation): Promise<Pick<Hierarchies, "denyDevices">> {
  if (isolation.kind !== "cgroup2" || (await whyNotDeny(isolation.folderOf(PROBE))) !== null) return {};
  return { denyDevices: (key, denied) => denyDevices(isolation.folderOf(key), denied) };
}

const PROBE = "probe";
const PROBE_TIMEOUT_MS = 2_000;

function works(prefix: string, needed: readonly string[]): boolean {
  const probe = `${prefix}${PROBE}`;
  try {
    makeOwnFolderNow(probe, 0o755);
    for (const file of needed) accessSync(join(probe, file));
    const joined = spawnSync("/bin/sh", ["-c", 'echo 0 >"$1"', "sh", join(probe, "cgroup.procs")], {
      stdio: "ignore",
      timeout: PROBE_TIMEOUT_MS,
      env: HELPER_ENVIRONMENT,
    });
    return joined.status === 0;
  } catch {
    return false;
  } finally {
    try {
      rmdirSync(probe);
    } catch {
      // It may not exist; otherwise the sweep at start removes it.
    }
  }
}

interface Mounts {
  readonly v2: string | null;
  /** Prefers the freezer hierarchy, then pids, then a named one. */
  readonly v1: string | null;
}

/** Mount points of v1 by controller. */
export function hierarchies(mountinfo: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of mountinfo.split("\n")) {
    const [left, right] = line.split(" - ");
    const mountpoint = left?.split(" ")[4];
    const [type, , options] = right?.split(" ") ?? [];
    if (type !== "cgroup" || mountpoint === undefined) continue;
    for (const option of options?.split(",") ?? []) if (!["rw", "ro"].includes(option)) found.set(option, mountpoint);
  }
  return found;
}

/** From /proc/self/mountinfo: `... mountpoint options [optional] - type source superoptions`. */
export function controlGroupMounts(mountinfo: string): Mounts {
  let v2: string | null = null;
  const v1 = new Map<string, string>();
  for (const line of mountinfo.split("\n")) {
    const [left, right] = line.split(" - ");
    const mountpoint = left?.split(" ")[4];
    const [type, , options] = right?.split(" ") ?? [];
    if (mountpoint === undefined) continue;
    if (type === "cgroup2") v2 ??= mountpoint;
    if (type === "cgroup") for (const option of options?.split(",") ?? []) v1.set(option, mountpoint);
  }
  return { v2, v1: v1.get("freezer") ?? v1.get("pids") ?? v1.get("name=systemd") ?? null };
}

/** From /proc/self/cgroup: the `0::/path` line. */
function ownGroup(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.startsWith("0::"));
  return line?.slice("0::".length) ?? "/";
}

function groupPrefix({ nodeId, dataDir }: AgentPlace): string {
  return `${nodeId}-${createHash("sha256").update(`${nodeId}\0${dataDir}`).digest("hex").slice(0, 10)}@`;
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** `prefix` of all group paths of this agent. */
function cgroup2(prefix: string): Isolation {
  const groupOf = (key: string): string => `${prefix}${key}`;
  return {
    kind: "cgroup2",
    async prepare({ key }) {
      makeGroup(groupOf(key));
      return join(groupOf(key), "cgroup.procs");
    },
    folderOf: groupOf,
    members: ({ key }) => membersBelow(groupOf(key)),
    isClean: ({ key, leader }) => holdsOnly(groupOf(key), leader),
    async kill({ key }) {
      await writeFile(join(groupOf(key), "cgroup.kill"), "1").catch(ignoreMissing);
    },
    remove: ({ key }) => removeBelow(groupOf(key)),
    groups: () => keysOf(prefix),
    close: async () => removeEmpty(dirname(prefix)),
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

function cgroup1(prefix: string): Isolation {
  const groupOf = (key: string): string => `${prefix}${key}`;
  return {
    kind: "cgroup1",
    async prepare({ key }) {
      makeGroup(groupOf(key));
      // As in `limit-groups.ts`: a process of one thread moves itself without a wait.
      return join(groupOf(key), "tasks");
    },
    folderOf: groupOf,
    members: ({ key }) => membersBelow(groupOf(key)),
    isClean: ({ key, leader }) => holdsOnly(groupOf(key), leader),
    async kill({ key }) {
      await freeze(groupOf(key), "FROZEN");
      signalEach(await membersBelow(groupOf(key)), "SIGKILL");
      await freeze(groupOf(key), "THAWED");
    },
    remove: ({ key }) => removeBelow(groupOf(key)),
    groups: () => keysOf(prefix),
    close: async () => removeEmpty(dirname(prefix)),
  };
}

async function freeze(group: string, state: "FROZEN" | "THAWED"): Promise<void> {
  // Only the freezer hierarchy has this file.
  await writeFile(join(group, "freezer.state"), state, { flag: "r+" }).catch(() => undefined);
}
