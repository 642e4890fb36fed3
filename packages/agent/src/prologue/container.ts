// An attempt in a container: the image in the engine's store, the environment in a file, and the words that
// run it. The mounts of the order are made in a namespace around the engine and passed on into the container.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NoPlaceError } from "../images/images.ts";
import { passedDevices } from "../runtime/container/devices/passed.ts";
import { containerEnvironment } from "../runtime/container/environment.ts";
import { runWords } from "../runtime/container/podman.ts";
import { PROGRAMS } from "../runtime/container/programs.ts";
import { enterScript, enterWords } from "../runtime/uenv/enter.ts";
import { asUser } from "../runtime/user/user.ts";
import { HELPER_PATH } from "../runtime/user/way-in.ts";
import { nameOf, noteHeld, readRoom } from "./held.ts";
import type { InContainer } from "./in-container.ts";
import type { Prepared, PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";
import { prepareSarus } from "./sarus.ts";

export async function prepareContainer(
  parts: PrologueParts,
  target: Target,
  inside: InContainer,
  signal: AbortSignal,
): Promise<Prepared> {
  const { software, runAs, data, environment: onNode, policy, binds } = inside;
  const { containers, images, groupParent, umask, sarus } = parts;
  const { key, group, dir, order } = target;
  if (images.signedOnly || software.signRequired) {
    const why = images.signedOnly ? ", and only signed images may be used here (--require-signed)" : "";
    throw new PrologueError("image", `signatures of container images cannot be checked on this node${why}`);
  }
  if (sarus !== null) return prepareSarus(parts, sarus, target, inside, signal);
  if (typeof containers === "string") throw new PrologueError("container", containers);
  const image = await images.container(software.image, key, signal).catch((error: Error) => {
    throw error instanceof NoPlaceError ? new PrologueError("cache", `${software.image}: ${error.message}`) : error;
  });
  await noteHeld(parts, target, nameOf(key));
  const devices = await passedDevices(parts.devices, parts.inside(), await readRoom(dir));
  const environment = containerEnvironment({
    environment: onNode,
    chosen: order.variables,
    image: image.variables,
    driver: devices.driver.length > 0,
    programs: binds.some(({ to }) => to === PROGRAMS),
  });
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
    binds,
    devices,
    pidFile: join(dir, "init.pid"),
    groupParent: groupParent(group),
  });
  const script = join(dir, "enter");
  const plan = { dir, images: [], data, workdir: "", before: [...policy, ...words], byEngine: PODMAN_FAILED };
  await writeFile(script, enterScript(plan), { mode: 0o600 });
  return {
    before: enterWords(script),
    environment: PODMAN_ENVIRONMENT,
    workdir: "/",
    uid: runAs?.uid ?? null,
    writer: runAs === null ? [] : asUser(runAs, true),
    variables: environment,
  };
}

/** What podman says for itself. */
const PODMAN_FAILED = 125;

/** Nothing of the job's: podman runs as root. */
const PODMAN_ENVIRONMENT = { PATH: HELPER_PATH, HOME: "/root" };

function splitLines(environment: Readonly<Record<string, string>>): { lines: string[]; rest: string[] } {
  const lines: string[] = [];
  const rest: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    const plain = /^[A-Za-z_]\w*$/.test(name) && !/[\r\n]/.test(value);
    (plain ? lines : rest).push(`${name}=${value}`);
  }
  return { lines, rest };
}
