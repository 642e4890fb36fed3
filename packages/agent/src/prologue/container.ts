// An attempt in a container: the image in the engine's store, the environment in a file, and the words that
// run it. The mounts of the order are made in a namespace around the engine and passed on into the container.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Software } from "../lifecycle/attempt.ts";
import { passedDevices } from "../runtime/container/devices/passed.ts";
import { containerEnvironment } from "../runtime/container/environment.ts";
import { pullImage, runWords } from "../runtime/container/podman.ts";
import { type DataMount, enterScript, enterWords } from "../runtime/uenv/enter.ts";
import type { RunAs } from "../runtime/user/user.ts";
import { nameOf, noteHeld, readRoom } from "./held.ts";
import type { Prepared, PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";

export interface InContainer {
  readonly software: Software;
  readonly runAs: RunAs | null;
  readonly data: readonly DataMount[];
  readonly environment: Record<string, string>;
  /** Put before the engine: the container inherits it. */
  readonly policy: readonly string[];
}

export async function prepareContainer(
  parts: PrologueParts,
  target: Target,
  { software, runAs, data, environment: onNode, policy }: InContainer,
  signal: AbortSignal,
): Promise<Prepared> {
  const { containers, images, groupParent, umask } = parts;
  const { key, group, dir, order } = target;
  if (typeof containers === "string") throw new PrologueError("container", containers);
  if (images.signedOnly || software.signRequired) {
    const why = images.signedOnly ? ", and only signed images may be used here (--require-signed)" : "";
    throw new PrologueError("image", `signatures of container images cannot be checked on this node${why}`);
  }
  const image = await pullImage(containers, software.image, signal);
  await images.cache.noteContainer({ digest: image.id, names: [software.image], sizeBytes: image.sizeBytes }, key);
  await noteHeld(parts, target, nameOf(key));
  const devices = await passedDevices(containers.devices, parts.inside(), await readRoom(dir));
  const environment = containerEnvironment({
    environment: onNode,
    chosen: order.variables,
    image: image.variables,
    driver: devices.driver.length > 0,
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
    binds: [
      ...data.map((mount) => ({ at: mount.at, readOnly: mount.kind !== "fuse" && mount.readOnly })),
      ...[environment.LATTICE_SCRATCH, environment.LATTICE_OUTPUT_DIR, environment.LATTICE_CHECKPOINT_CONTROL].flatMap(
        (at) => (at === undefined ? [] : [{ at, readOnly: false }]),
      ),
      ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }]),
    ],
    devices,
    pidFile: join(dir, "init.pid"),
    groupParent: groupParent(group),
  });
  const script = join(dir, "enter");
  const plan = { dir, images: [], data, workdir: "", before: [...policy, ...words], byEngine: true };
  await writeFile(script, enterScript(plan), { mode: 0o600 });
  return {
    before: enterWords(script),
    environment: PODMAN_ENVIRONMENT,
    workdir: "/",
    uid: runAs?.uid ?? null,
    variables: environment,
  };
}

/** Nothing of the job's: podman runs as root. */
const PODMAN_ENVIRONMENT = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" };

function splitLines(environment: Readonly<Record<string, string>>): { lines: string[]; rest: string[] } {
  const lines: string[] = [];
  const rest: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    const plain = /^[A-Za-z_]\w*$/.test(name) && !/[\r\n]/.test(value);
    (plain ? lines : rest).push(`${name}=${value}`);
  }
  return { lines, rest };
}
