// Containers by podman: how an image comes to the node, and the words that run one. A container shares the
// node's network, processes and memory, as parallel programs need it; what it does not get is root, capabilities,
// new privileges, or another root file system than its own. Podman's store belongs to this agent alone.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PrologueError } from "../../prologue/prologue-error.ts";
import { HELPER_PATH } from "../user/way-in.ts";
import type { ContainerBind } from "./bind.ts";
import type { ContainerEngine } from "./detect.ts";
import type { Passed } from "./devices/passed.ts";

export interface ContainerStore {
  readonly engine: ContainerEngine;
  /** Where podman keeps images and the state of containers. */
  readonly folder: string;
  /** Registries that speak plain HTTP. */
  readonly insecure: readonly string[];
}

export interface PulledImage {
  readonly id: string;
  readonly digest: string;
  readonly sizeBytes: number;
  /** What the image itself sets. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** Empty: the image's own. */
  readonly workdir: string;
  readonly readOnly: boolean;
  readonly environmentFile: string;
  /** Variables that a file of lines cannot hold. */
  readonly variables: readonly string[];
  readonly binds: readonly ContainerBind[];
  readonly devices: Passed;
  readonly pidFile: string;
  readonly groupParent: string;
  readonly umask: string;
}

const PULL_TIMEOUT_MS = 600_000;
const CALL_TIMEOUT_MS = 60_000;
/** Where runc may still set it without the right to raise limits. */
const MOST_PROCESSES = 32_768;
const MOST_FILES = 65_536;
export const LABEL = "lattice.agent";

const base = ({ engine, folder }: ContainerStore): readonly string[] => [
  ...["--root", join(folder, "store"), "--runroot", runRoot(folder)],
  ...["--cgroup-manager", "cgroupfs", "--runtime", engine.runtime],
];

/** podman refuses a longer one, since the addresses of sockets are made of it. */
const MOST_RUN_ROOT_LENGTH = 50;

/** Beside the store, or by a short name where that lies too deep. */
function runRoot(folder: string): string {
  const beside = join(folder, "run");
  if (beside.length <= MOST_RUN_ROOT_LENGTH) return beside;
  return `/run/lattice-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
}

/** Asks the registry, unless a digest says that nothing can have changed; what is here serves while it is away. */
export async function pullImage(store: ContainerStore, asked: string, signal: AbortSignal): Promise<PulledImage> {
  const name = withoutTag(asked);
  const byDigest = name.includes("@");
  const here = await inspect(store, name, signal);
  if (here !== null && byDigest) return here;
  const tls = store.insecure.some((host) => name.startsWith(`${host}/`)) ? ["--tls-verify=false"] : [];
  const pulled = await call(store, ["pull", "-q", ...tls, name], PULL_TIMEOUT_MS, signal);
  if (pulled.code !== 0 && here === null)
    throw new PrologueError("image", `cannot pull ${asked}: ${said(pulled.stderr)}`);
  const image = await inspect(store, name, signal);
  if (image === null) throw new PrologueError("image", `${asked} was pulled, but is not in podman's store`);
  return image;
}

/** podman takes a tag or a digest, not both; the digest says more. */
function withoutTag(name: string): string {
  const [head = "", digest] = name.split("@");
  if (digest === undefined) return name;
  const colon = head.lastIndexOf(":");
  return `${colon > head.lastIndexOf("/") ? head.slice(0, colon) : head}@${digest}`;
}

async function inspect(store: ContainerStore, name: string, signal: AbortSignal): Promise<PulledImage | null> {
  const format = "{{.Id}} {{.Digest}} {{.Size}} {{json .Config.Env}}";
  const { code, stdout } = await call(store, ["image", "inspect", "--format", format, name], CALL_TIMEOUT_MS, signal);
  const [, id, digest, size, variables] = /^(\S+) (\S+) (\d+) (.*)$/m.exec(stdout) ?? [];
  if (code !== 0 || id === undefined || digest === undefined) return null;
  return { id, digest, sizeBytes: Number(size), variables: variablesOf(variables ?? "") };
}

function variablesOf(json: string): Record<string, string> {
  const entries = (JSON.parse(json) as readonly string[] | null) ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)]),
  );
}

export function runWords(store: ContainerStore, plan: ContainerPlan): readonly string[] {
  const { engine } = store;
  const { files, processes } = ownLimits();
  // Below the attempt's own, where its limits hold. Whoever watches stays in that one, since v2 lets nobody beside its children
  // have controllers; the engine's own limit of processes would need one.
  const groups = ["--cgroups=no-conmon", "--pids-limit=-1", "--cgroup-parent", plan.groupParent];
  return [
    engine.podman,
    ...base(store),
    ...["run", "--rm", "--name", plan.name, "--label", `${LABEL}=${plan.groupParent}`, "--pidfile", plan.pidFile],
    ...["--network=host", "--pid=host", "--ipc=host", "--uts=host", ...groups],
    ...["--user", `${plan.uid}:${plan.gid}`, ...plan.groups.flatMap((group) => ["--group-add", String(group)])],
    ...["--cap-drop=all", "--security-opt=no-new-privileges", "--log-driver=none", "--umask", plan.umask],
    ...["--ulimit", `nofile=${files}:${files}`, "--ulimit", `nproc=${processes}:${processes}`],
    ...(plan.readOnly ? ["--read-only"] : []),
    ...(plan.workdir === "" ? [] : ["--workdir", plan.workdir]),
    ...plan.binds.flatMap(({ at, to = at, readOnly }) => [
      "--volume",
      `${at}:${to}:${readOnly ? "ro" : "rw"},nosuid,nodev`,
    ]),
    ...deviceWords(plan.devices),
    ...["--env-file", plan.environmentFile, ...plan.variables.flatMap((variable) => ["--env", variable])],
    ...["--pull=never", "--entrypoint", "", plan.image],
  ];
}

/** What the agent itself may have: an engine cannot raise it, and says so only when it is too late. */
function ownLimits(): { readonly files: number; readonly processes: number } {
  const text = readFileSync("/proc/self/limits", "utf8");
  const hard = (name: string, most: number): number => {
    const value = Number(new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(text)?.[1] ?? most);
    return Math.min(value, most);
  };
  return { files: hard("Max open files", MOST_FILES), processes: hard("Max processes", MOST_PROCESSES) };
}

/** Of the share alone. Nothing of the driver can be changed from inside. */
const deviceWords = ({ named, files, driver }: Passed): readonly string[] => [
  ...[...named, ...files].flatMap((device) => ["--device", device]),
  ...driver.flatMap(({ from, to }) => ["--volume", `${from}:${to}:ro,nosuid,nodev`]),
];

/** What a container left behind, because podman itself was killed. */
export async function removeContainer(store: ContainerStore, name: string): Promise<void> {
  await call(store, ["rm", "-f", "-t", "0", "--ignore", name], CALL_TIMEOUT_MS, AbortSignal.timeout(CALL_TIMEOUT_MS));
}

export async function removeImage(store: ContainerStore, id: string): Promise<void> {
  await call(store, ["rmi", "-f", id], CALL_TIMEOUT_MS, AbortSignal.timeout(CALL_TIMEOUT_MS));
}

/**
 * Names of all containers in this agent's store. A store that has recorded none is not asked about: podman takes its
 * time, and waits for whoever else uses it, while nothing may begin on the node.
 */
export async function listContainers(store: ContainerStore): Promise<readonly string[]> {
  if (!hasRecorded(store)) return [];
  const words = ["ps", "-a", "--format", "{{.Names}}"];
  const { stdout } = await call(store, words, CALL_TIMEOUT_MS, AbortSignal.timeout(CALL_TIMEOUT_MS));
  return stdout.split("\n").filter((name) => name.startsWith("lattice-"));
}

function hasRecorded({ folder }: ContainerStore): boolean {
  try {
    const kinds = readdirSync(join(folder, "store")).filter((name) => name.endsWith("-containers"));
    return kinds.some((kind) => existsSync(join(folder, "store", kind, "containers.json")));
  } catch {
    return false;
  }
}

interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function call(store: ContainerStore, words: readonly string[], timeout: number, signal: AbortSignal): Promise<Called> {
  const env = { PATH: HELPER_PATH, HOME: "/root" };
  return new Promise((resolve, reject) => {
    execFile(store.engine.podman, [...base(store), ...words], { timeout, signal, env }, (error, stdout, stderr) => {
      if (signal.aborted) return reject(signal.reason);
      resolve({ code: error === null ? 0 : Number(error.code ?? 1) || 1, stdout, stderr });
    });
  });
}

/** The last line is the one that says why. */
const said = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 400) ?? "";
