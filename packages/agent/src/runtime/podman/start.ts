// The words that run a container by podman. A container shares the node's network, processes and memory, as parallel
// programs need it. It gets no root, no capabilities, no new privileges, and no root file system but its own.

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HELPER_PATH } from "../../base/executable.ts";
import { insideProgram } from "../../base/inside-program.ts";
import { PrologueError } from "../../base/prologue-error.ts";
import type { ContainerImage } from "../../images/images.ts";
import { initFile } from "../base/attempt-files.ts";
import type { ContainerBind, EngineAttempt, Prepared, PrologueParts } from "../base/engine.ts";
import { writeEntry } from "../base/entry-plan.ts";
import { containerMounts } from "../container/binds.ts";
import { engineScript } from "../container/engine-script.ts";
import { containerEnvironment } from "../container/environment.ts";
import { PROGRAMS } from "../container/programs.ts";
import { type Passed, passedDevices } from "../devices/passed.ts";
import { nameOf, readShare } from "../prologue/attempt-holdings.ts";
import { baseWords, type ContainerStore } from "./podman.ts";
import { makeSecrets, type SecretVariable } from "./secrets.ts";

export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly readOnly: boolean;
  readonly environmentFile: string;
  /** Variables that an env file cannot hold, by the name of their secret in the store. */
  readonly secrets: readonly SecretVariable[];
  readonly binds: readonly ContainerBind[];
  readonly devices: Passed;
  readonly pidFile: string;
  readonly groupParent: string;
  readonly umask: string;
}

/** The range that runc may set without the right to raise limits. */
const MAX_PROCESSES = 32_768;
const MAX_FILES = 65_536;
const LABEL = "lattice.agent";

export async function start(
  store: ContainerStore,
  parts: PrologueParts,
  attempt: EngineAttempt,
  image: ContainerImage,
): Promise<Prepared> {
  const { key, group, dir, order, runAs, policy } = attempt;
  const { steps, binds } = containerMounts(attempt, [...(await parts.offered()), insideBind()]);
  const devices = await passedDevices(parts.devices, parts.inside(), await readShare(dir));
  const environment = containerEnvironment({
    environment: attempt.environment,
    chosen: order.variables,
    image: image.variables,
    driver: devices.driver.length > 0,
    programs: binds.some(({ to }) => to === PROGRAMS),
  });
  const { lines, rest } = splitLines(environment);
  const environmentFile = join(dir, "environment");
  await writeFile(environmentFile, lines.join("\n"), { mode: 0o600 });
  const { uid, gid, groups } = runAs ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: [] };
  const pidFile = initFile(dir);
  const words = runWords(store, {
    name: nameOf(key),
    image: image.id,
    uid,
    gid,
    groups: groups.filter((each) => each !== gid),
    umask: parts.umask,
    readOnly: order.environment?.readOnly === true,
    environmentFile,
    secrets: await makeSecrets(store, key, rest),
    binds,
    devices,
    pidFile,
    groupParent: parts.groupParent(group),
  });
  const script = join(dir, "enter");
  const place = order.workdir === "" ? ["--image", image.workdir || "/"] : [order.workdir];
  const engine = [...policy, ...words, INSIDE, "workdir", ...place];
  await writeFile(script, engineScript({ dir, engine, initFile: pidFile, failsWith: PODMAN_FAILED }), { mode: 0o600 });
  const entry = writeEntry(parts.entry, {
    dir,
    user: null,
    rights: runAs,
    confined: false,
    workdir: "/",
    enters: false,
    steps: [{ kind: "shared-memory" }, ...steps],
    home: null,
    variables: PODMAN_ENVIRONMENT,
  });
  return {
    before: [...entry, "/bin/sh", script],
    environment: {},
    workdir: "/",
    owner: runAs,
    writer: parts.files.commandFor("output", runAs),
    variables: environment,
  };
}

/** Inside a container, where no mount of a user can be above it. */
const INSIDE = "/.lattice-inside";

function insideBind(): ContainerBind {
  const at = insideProgram();
  if (at === null) throw new PrologueError("container", "lattice-inside was not built on this node");
  return { at, to: INSIDE, readOnly: true };
}

/** podman's own exit code for its failures. */
const PODMAN_FAILED = 125;

/** podman runs as root, so it receives no variable of the job. */
const PODMAN_ENVIRONMENT = { PATH: HELPER_PATH, HOME: "/root" };

function splitLines(environment: Readonly<Record<string, string>>) {
  const lines: string[] = [];
  const rest: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (/^[A-Za-z_]\w*$/.test(name) && !/[\r\n]/.test(value)) lines.push(`${name}=${value}`);
    else rest.push([name, value]);
  }
  return { lines, rest };
}

export function runWords(store: ContainerStore, plan: ContainerPlan): readonly string[] {
  const { files, processes } = ownLimits();
  // Below the attempt's group, where its limits apply. conmon stays in that group, since in v2 a group with
  // controllers has no processes next to its children; podman's own limit of processes would need a controller.
  const groups = ["--cgroups=no-conmon", "--pids-limit=-1", "--cgroup-parent", plan.groupParent];
  return [
    store.podman,
    ...baseWords(store),
    ...["run", "--rm", "--name", plan.name, "--label", `${LABEL}=${plan.groupParent}`, "--pidfile", plan.pidFile],
    ...["--network=host", "--pid=host", "--ipc=host", "--uts=host", ...groups],
    ...["--user", `${plan.uid}:${plan.gid}`, ...plan.groups.flatMap((group) => ["--group-add", String(group)])],
    ...["--cap-drop=all", "--security-opt=no-new-privileges", "--log-driver=none", "--umask", plan.umask],
    ...["--ulimit", `nofile=${files}:${files}`, "--ulimit", `nproc=${processes}:${processes}`],
    // The runtime would enter and create it as root; lattice-inside enters it as the user.
    "--workdir=/",
    // Features that an image could start outside of the container, by podman as root.
    ...["--no-healthcheck", "--image-volume=ignore", "--systemd=false"],
    ...(plan.readOnly ? ["--read-only"] : []),
    ...plan.binds.flatMap(({ at, to = at, readOnly }) => [
      "--volume",
      `${at}:${to}:${readOnly ? "ro" : "rw"},nosuid,nodev`,
    ]),
    ...deviceWords(plan.devices),
    ...["--env-file", plan.environmentFile],
    ...plan.secrets.flatMap(({ secret, variable }) => ["--secret", `${secret},type=env,target=${variable}`]),
    ...["--pull=never", "--entrypoint", "", plan.image],
  ];
}

/** The agent's own limits: an engine cannot raise them, and fails late if asked to. */
function ownLimits(): { readonly files: number; readonly processes: number } {
  const text = readFileSync("/proc/self/limits", "utf8");
  const hard = (name: string, most: number): number => {
    const value = Number(new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(text)?.[1] ?? most);
    return Math.min(value, most);
  };
  return { files: hard("Max open files", MAX_FILES), processes: hard("Max processes", MAX_PROCESSES) };
}

/** GPUs of the share only. The driver's files are read-only inside. */
const deviceWords = ({ named, files, driver }: Passed): readonly string[] => [
  ...[...named, ...files].flatMap((device) => ["--device", device]),
  ...driver.flatMap(({ from, to }) => ["--volume", `${from}:${to}:ro,nosuid,nodev`]),
];
