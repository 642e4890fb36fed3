// An attempt in a container of Sarus's: the image in the repository of whom it runs as, and the words that run it as that user.
// What Sarus cannot do is refused, not left out. GPUs come by Sarus's own hooks, which read who may see which.

import { chownSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fabricFiles } from "../runtime/container/devices/passed.ts";
import { pullBySarus, type Sarus, sarusWords } from "../runtime/container/sarus.ts";
import { gpuVariables } from "../runtime/isolation/node-shares.ts";
import { enterScript, enterWords } from "../runtime/uenv/enter.ts";
import { asUser } from "../runtime/user/user.ts";
import { wayIn } from "../runtime/user/way-in.ts";
import { nameOf, noteHeld } from "./held.ts";
import type { InContainer } from "./in-container.ts";
import type { Prepared, PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";

export async function prepareSarus(
  parts: PrologueParts,
  sarus: Sarus | string,
  target: Target,
  { software, runAs, data, environment: job, policy, binds }: InContainer,
  signal: AbortSignal,
): Promise<Prepared> {
  const { dir, order } = target;
  if (typeof sarus === "string") throw new PrologueError("container", sarus);
  if (software.readOnly) {
    throw new PrologueError(
      "container",
      "Sarus, which runs containers here, cannot keep a root file system from being written to",
    );
  }
  const unfit = binds.find(({ at }) => at.includes(","));
  if (unfit !== undefined) throw new PrologueError("mounts", `Sarus cannot mount ${unfit.at}: there is a comma in it`);
  await pullBySarus(sarus, software.image, runAs, signal);
  await noteHeld(parts, target, nameOf(target.key));
  // Its hooks give a container the GPUs that this names, and none without it.
  const gpus = order.share === undefined ? gpuVariables(parts.inside(), allOf(parts)) : {};
  const environment = { ...job, ...gpus };
  const pidFile = join(dir, "init.pid");
  writeFileSync(pidFile, "", { mode: 0o644 });
  if (runAs !== null) chownSync(pidFile, runAs.uid, runAs.gid);
  const words = sarusWords(sarus, {
    image: software.image,
    workdir: order.workdir,
    ...givenVariables(environment, order.variables),
    binds: [...binds, { at: pidFile, readOnly: false }],
    devices: fabricFiles(parts.devices),
    pidFile,
  });
  const { environment: safe, prefix } = wayIn(environment, runAs === null ? [] : asUser(runAs, false));
  const script = join(dir, "enter");
  const before = [...policy, ...prefix, ...words];
  const plan = { dir, images: [], data, workdir: "", before, byEngine: "any" } as const;
  await writeFile(script, enterScript(plan), { mode: 0o600 });
  return {
    before: enterWords(script),
    environment: safe,
    workdir: "/",
    uid: runAs?.uid ?? null,
    writer: runAs === null ? [] : asUser(runAs, true),
    variables: environment,
  };
}

const allOf = ({ inside }: PrologueParts): readonly number[] =>
  Array.from({ length: inside().gpuCount }, (_, gpu) => gpu);

/** The image's search path stays unless the job names one; the loader's variables do not reach a program with root's rights. */
function givenVariables(environment: Readonly<Record<string, string>>, chosen: Readonly<Record<string, string>>) {
  const names = Object.keys(environment).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const given = names.filter((name) => name !== "PATH" || chosen.PATH !== undefined);
  return {
    names: given.filter((name) => !LOADER.test(name)),
    variables: given.filter((name) => LOADER.test(name)).map((name) => `${name}=${environment[name]}`),
  };
}

const LOADER = /^(LD_|GLIBC_|MALLOC_|TMPDIR$)/;
