// The words that run a container by Sarus, as its user. Sarus's own hooks give it the GPUs that its variables name.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFileFor, removeOwnNow } from "../../files/own-tree.ts";
import { gpuVariables } from "../../host/isolation/node-shares.ts";
import { asUser } from "../../host/user/user.ts";
import { wayIn } from "../../host/user/way-in.ts";
import { enterScript, enterWords } from "../attempt/enter-script.ts";
import { containerBinds } from "../container/binds.ts";
import { fabricFiles } from "../container/devices/passed.ts";
import type { ContainerBind, EngineAttempt, Prepared, PrologueParts } from "../engine.ts";
import type { Sarus } from "./prepare.ts";

interface SarusPlan {
  readonly image: string;
  /** Empty for the image's own. */
  readonly workdir: string;
  /** Names of variables that override the image's; their values are in the environment. */
  readonly names: readonly string[];
  /** The complete environment, for variables that a setuid program does not inherit. */
  readonly variables: readonly string[];
  readonly binds: readonly ContainerBind[];
  readonly devices: readonly string[];
  /** File for the process id of the first process inside. */
  readonly pidFile: string;
}

export async function start(sarus: Sarus, parts: PrologueParts, attempt: EngineAttempt): Promise<Prepared> {
  const { dir, order, runAs, data, policy } = attempt;
  // Without this variable Sarus's hooks give a container no GPU.
  const gpus = order.limits === undefined ? gpuVariables(parts.inside(), allOf(parts)) : {};
  const environment = { ...attempt.environment, ...gpus };
  const pidFile = join(dir, "init.pid");
  removeOwnNow(pidFile);
  makeFileFor(pidFile, Buffer.alloc(0), runAs, 0o644);
  const words = sarusWords(sarus, {
    image: order.environment?.image ?? "",
    workdir: order.workdir,
    ...givenVariables(environment, order.variables),
    binds: [...containerBinds(attempt, await parts.offered()), { at: pidFile, readOnly: false }],
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
    reportsLaunchFailure: false,
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

/** Prefix of the job's command. */
const sarusWords = ({ program }: Sarus, plan: SarusPlan): readonly string[] => [
  program,
  "run",
  ...(plan.workdir === "" ? [] : [`--workdir=${plan.workdir}`]),
  ...plan.binds.map(({ at, to = at, readOnly }) => {
    return `--mount=type=bind,source=${at},destination=${to}${readOnly ? ",readonly" : ""}`;
  }),
  ...plan.devices.map((device) => `--device=${device}`),
  ...[...plan.names, ...plan.variables].flatMap((variable) => ["--env", variable]),
  ...["--entrypoint", "", plan.image],
  ...["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', plan.pidFile],
];
