// Makes a node ready for one attempt, stage by stage: user, images, views, mounts, scratch, memory
// policy, container. It answers how the command is to be started; nothing of the attempt runs yet. A stage
// that fails names itself, and whatever was taken before is given back by the epilogue.

import { chmod, chown, lstat, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstOverlap } from "@lattice/core";
import type { Images } from "../images/images.ts";
import { applyPatches } from "../images/views.ts";
import type { Order, Software } from "../lifecycle/attempt.ts";
import { type ContainerStore, pullImage, runWords } from "../runtime/container/podman.ts";
import { type MemoryPlace, memoryPolicyWords } from "../runtime/memory-policy.ts";
import { type DataMount, enterScript, enterWords } from "../runtime/uenv/enter.ts";
import { splitEnvironment } from "../runtime/user/safe-environment.ts";
import { asUser, type RunAs, type UserMapping } from "../runtime/user/user.ts";
import type { Users } from "../runtime/user/users.ts";
import { dataMounts } from "./mounts.ts";
import { PrologueError } from "./prologue-error.ts";
import { prepareUenvs } from "./uenvs.ts";

export interface PrologueParts {
  readonly images: Images;
  /** In words why there is none, or podman's store. */
  readonly containers: ContainerStore | string;
  readonly users: Users;
  readonly mapping: UserMapping;
  readonly memory: MemoryPlace;
  readonly scratchRoot: string;
  /** Empty: allocations get no output folder. */
  readonly outputRoot: string;
  readonly umask: string;
  readonly isRoot: boolean;
  /** Path of the attempt's control groups below every hierarchy. */
  readonly groupParent: (key: string) => string;
}

export interface Target {
  readonly key: string;
  readonly dir: string;
  readonly order: Order;
  readonly environment: Record<string, string>;
}

export interface Prepared {
  /** Put before the command. */
  readonly before: readonly string[];
  readonly environment: Record<string, string>;
  /** Where the wrapper goes before the command. */
  readonly workdir: string;
}

/** A container that would be root runs as nobody instead. */
const NOBODY: RunAs = { name: "nobody", uid: 65534, gid: 65534, groups: [65534], home: "/", shell: "/bin/sh" };

export async function runPrologue(parts: PrologueParts, target: Target, signal: AbortSignal): Promise<Prepared> {
  const { order, dir } = target;
  const software = order.software ?? null;
  const mapped = await parts.users.find(parts.mapping, order.user);
  const runAs = software?.image ? (mapped ?? (parts.isRoot ? NOBODY : null)) : mapped;
  const folders = await makeFolders(parts, target, runAs);
  if (runAs !== null && order.script !== "") await giveScript(join(dir, "script"), runAs);
  let environment = { ...target.environment, ...folders, ...(mapped === null ? {} : userNames(mapped)) };

  const data = await dataMounts(order, mapped);
  if (software?.image) return container(parts, target, { software, runAs, data, environment }, signal);

  const uenvs = software === null ? null : await prepareUenvs(parts.images, software, target.key, signal);
  const mounts = uenvs?.mounts ?? [];
  if (uenvs !== null) {
    environment = { ...applyPatches(environment, uenvs.patches), LATTICE_UENV: uenvs.listed };
  }
  const policy = memoryPolicyWords(order.memoryPolicy ?? "", parts.memory);
  const workdir = order.workdir !== "" ? order.workdir : await defaultWorkdir(mapped, dir, folders);
  const { safe, later } = mapped === null ? { safe: environment, later: [] } : splitEnvironment(environment);
  const change = [
    ...policy,
    ...(mapped === null ? [] : asUser(mapped, mounts.length + data.length > 0)),
    ...withVariables(later),
  ];
  const before = policy.length > 0 && mapped === null ? [...change, ...PLAIN_EXEC] : change;
  if (mounts.length === 0 && data.length === 0) return { before, environment: safe, workdir };

  refuseOverlap([...mounts, ...data]);
  for (const { at } of [...mounts, ...data]) await refuseLinks(at);
  mustBeRoot(parts, mounts.length > 0 ? "uenv" : "mounts");
  await noteHeld(parts, target);
  const script = join(dir, "enter");
  await writeFile(script, enterScript({ dir, images: mounts, data, workdir, before, byEngine: false }), {
    mode: 0o600,
  });
  return { before: enterWords(script), environment: safe, workdir: "/" };
}

interface InContainer {
  readonly software: Software;
  readonly runAs: RunAs | null;
  readonly data: readonly DataMount[];
  readonly environment: Record<string, string>;
}

async function container(
  { containers, images, groupParent, umask }: PrologueParts,
  { key, dir, order }: Target,
  { software, runAs, data, environment }: InContainer,
  signal: AbortSignal,
): Promise<Prepared> {
  if (typeof containers === "string") throw new PrologueError("container", containers);
  if (software.signRequired) {
    throw new PrologueError("image", "signatures of container images cannot be checked on this node");
  }
  refuseOverlap(data);
  for (const { at } of data) await refuseLinks(at);
  const image = await pullImage(containers, software.image, signal);
  await images.cache.noteContainer({ digest: image.id, names: [software.image], sizeBytes: image.sizeBytes }, key);
  await writeFile(join(dir, "held.json"), JSON.stringify({ images: images.cache.held(key), container: nameOf(key) }));
  const { lines, rest } = splitLines(environment);
  const environmentFile = join(dir, "environment");
  await writeFile(environmentFile, lines.join("\n"), { mode: 0o600 });
  const { uid, gid, groups } = runAs ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: [] };
  const words = runWords(containers, {
    name: nameOf(key),
    image: image.id,
    ...{ uid, gid, groups: groups.filter((group) => group !== gid), umask },
    workdir: order.workdir,
    readOnly: software.readOnly,
    environmentFile,
    variables: rest,
    binds: [
      ...data.map((mount) => ({ at: mount.at, readOnly: mount.kind !== "fuse" && mount.readOnly })),
      ...[environment.LATTICE_SCRATCH, environment.LATTICE_OUTPUT_DIR].flatMap((at) =>
        at === undefined ? [] : [{ at, readOnly: false }],
      ),
      ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }]),
    ],
    pidFile: join(dir, "init.pid"),
    groupParent: groupParent(key),
  });
  const script = join(dir, "enter");
  const plan = { dir, images: [], data, workdir: "", before: words, byEngine: true };
  await writeFile(script, enterScript(plan), { mode: 0o600 });
  return { before: enterWords(script), environment: PODMAN_ENVIRONMENT, workdir: "/" };
}

/** Nothing of the job's: podman runs as root. */
const PODMAN_ENVIRONMENT = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" };

export const nameOf = (key: string): string => `lattice-${key}`;

function splitLines(environment: Readonly<Record<string, string>>): { lines: string[]; rest: string[] } {
  const lines: string[] = [];
  const rest: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    const plain = /^[A-Za-z_]\w*$/.test(name) && !/[\r\n]/.test(value);
    (plain ? lines : rest).push(`${name}=${value}`);
  }
  return { lines, rest };
}

async function makeFolders(
  { scratchRoot, outputRoot }: PrologueParts,
  { key, order }: Target,
  runAs: RunAs | null,
): Promise<Record<string, string>> {
  const scratch = join(scratchRoot, key);
  try {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    if (runAs !== null) await chown(scratch, runAs.uid, runAs.gid);
    if (outputRoot === "") return { LATTICE_SCRATCH: scratch };
    const output = join(outputRoot, order.tenant, folderName(order.project), order.allocationId);
    const checkpoints = join(output, "checkpoints");
    await mkdir(checkpoints, { recursive: true });
    if (runAs !== null) for (const path of [output, checkpoints]) await chown(path, runAs.uid, runAs.gid);
    return { LATTICE_SCRATCH: scratch, LATTICE_OUTPUT_DIR: output, LATTICE_CHECKPOINT_DIR: checkpoints };
  } catch (error) {
    throw new PrologueError("scratch", (error as Error).message);
  }
}

/** Projects are free text, and must not lead anywhere. */
const folderName = (project: string): string => project.replace(/[^\w-]/g, "_") || "default";

async function giveScript(path: string, { uid, gid }: RunAs): Promise<void> {
  await chmod(path, 0o500);
  await chown(path, uid, gid);
}

const userNames = ({ name, home, shell }: RunAs): Record<string, string> => ({
  USER: name,
  LOGNAME: name,
  HOME: home,
  SHELL: shell,
});

/** The attempt's own folder belongs to root; a user stands at home, or in the scratch folder. */
async function defaultWorkdir(runAs: RunAs | null, dir: string, folders: Record<string, string>): Promise<string> {
  if (runAs === null) return dir;
  const home = await stat(runAs.home).catch(() => null);
  return home?.isDirectory() === true ? runAs.home : (folders.LATTICE_SCRATCH ?? "/");
}

/** env would take a command with "=" in its name for a variable; the shell's exec does not. */
const PLAIN_EXEC = ["/bin/sh", "-c", 'exec "$@"', "sh"];
const withVariables = (later: readonly string[]): readonly string[] =>
  later.length === 0 ? [] : ["/usr/bin/env", ...later, ...PLAIN_EXEC];

function refuseOverlap(mounts: readonly { readonly at: string }[]): void {
  const overlap = firstOverlap(mounts.map(({ at }) => at));
  if (overlap !== null) throw new PrologueError("mounts", `the mount at ${mounts[overlap]?.at} overlaps with another`);
}

/** A link on the way would lead out of where the target was allowed. */
async function refuseLinks(at: string): Promise<void> {
  let path = "";
  for (const part of at.slice(1).split("/")) {
    path = `${path}/${part}`;
    const found = await lstat(path).catch(() => null);
    if (found === null) return;
    if (!found.isDirectory())
      throw new PrologueError("mounts", `${path} on the way to the mount at ${at} is not a folder`);
  }
}

function mustBeRoot({ isRoot }: PrologueParts, stage: string): void {
  if (!isRoot) throw new PrologueError(stage, "the agent does not run as root and cannot mount anything");
}

/** For an agent that is started again while the attempt runs. */
async function noteHeld({ images }: PrologueParts, { key, dir }: Target): Promise<void> {
  await writeFile(join(dir, "held.json"), JSON.stringify({ images: images.cache.held(key), container: null }));
}

export interface HeldThings {
  readonly images: readonly string[];
  readonly container: string | null;
}

export async function readHeld(dir: string): Promise<HeldThings> {
  try {
    return JSON.parse(await readFile(join(dir, "held.json"), "utf8")) as HeldThings;
  } catch {
    return { images: [], container: null };
  }
}
