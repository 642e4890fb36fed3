// The words that run a container by Sarus, as its user. Sarus's own hooks give it the GPUs that its variables name.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HELPER_PATH } from "../../base/executable.ts";
import { makeOwnFolderNow, makeSharedFile, removeOwnNow } from "../../files/own-tree.ts";
import { gpuVariables } from "../../host/isolation/node-shares.ts";
import { ENGINE_FOLDER, initFile } from "../base/attempt-files.ts";
import type { ContainerBind, EngineAttempt, Prepared, PrologueParts } from "../base/engine.ts";
import { writeEntry } from "../base/entry-plan.ts";
import { containerMounts } from "../container/binds.ts";
import { engineScript } from "../container/engine-script.ts";
import { fabricFiles } from "../devices/passed.ts";
import type { Sarus } from "./prepare.ts";

interface SarusPlan {
  readonly image: string;
  /** Empty for the image's own. */
  readonly workdir: string;
  /** Names of variables that override the image's; their values are in the environment. */
  readonly names: readonly string[];
  /** Variables that a setuid program does not inherit; they come under other names and are renamed inside. */
  readonly renamed: readonly string[];
  readonly binds: readonly ContainerBind[];
  readonly devices: readonly string[];
  /** File for the process id of the first process inside. */
  readonly pidFile: string;
}

export async function start(sarus: Sarus, parts: PrologueParts, attempt: EngineAttempt): Promise<Prepared> {
  const { dir, order, runAs, policy } = attempt;
  // Without this variable Sarus's hooks give a container no GPU.
  const gpus = order.limits === undefined ? gpuVariables(parts.inside(), allOf(parts)) : {};
  const environment = { ...attempt.environment, ...gpus };
  const pidFile = join(dir, "init.pid");
  // Left by an interrupted start.
  for (const path of [pidFile, join(dir, ENGINE_FOLDER)]) removeOwnNow(path);
  makeOwnFolderNow(join(dir, ENGINE_FOLDER), 0o700);
  makeSharedFile({ own: initFile(dir), shown: pidFile }, runAs, 0o644);
  const { steps, binds } = containerMounts(attempt, await parts.offered());
  const { names, renamed } = givenVariables(environment, order.variables);
  const words = sarusWords(sarus, {
    image: order.environment?.image ?? "",
    workdir: order.workdir,
    names,
    renamed,
    binds: [...binds, { at: pidFile, readOnly: false }],
    devices: fabricFiles(parts.devices),
    pidFile,
  });
  const script = join(dir, "enter");
  const common = { dir, confined: false, home: null, workdir: "/", enters: false } as const;
  const hidden = renamed.map((name) => [nameInside(name), environment[name] ?? ""] as const);
  const variables = { ...environment, ...Object.fromEntries(hidden) };
  // Sarus is the user's own program: it gets the job's variables after the change of user.
  const asOwner = writeEntry(parts.entry, { ...common, user: runAs, steps: [], variables }, "entry-user");
  const engine = [...asOwner, ...policy, ...words];
  await writeFile(script, engineScript({ dir, engine, initFile: initFile(dir), failsWith: "any" }), { mode: 0o600 });
  const mounted = { ...common, user: null, rights: runAs, steps: [{ kind: "shared-memory" } as const, ...steps] };
  const entry = writeEntry(parts.entry, { ...mounted, variables: { PATH: HELPER_PATH } });
  return {
    before: [...entry, "/bin/sh", script],
    environment: {},
    workdir: "/",
    owner: runAs,
    writer: parts.files.commandFor("output", runAs),
    variables: environment,
  };
}

const allOf = ({ inside }: PrologueParts): readonly number[] =>
  Array.from({ length: inside().gpuCount }, (_, gpu) => gpu);

/** The image's search path stays unless the job names one; the loader's variables do not reach a program with root's rights. */
function givenVariables(environment: Readonly<Record<string, string>>, chosen: Readonly<Record<string, string>>) {
  const names = Object.keys(environment).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const given = names.filter((name) => name !== "PATH" || chosen.PATH !== undefined);
  return { names: given.filter((name) => !LOADER.test(name)), renamed: given.filter((name) => LOADER.test(name)) };
}

const nameInside = (name: string): string => `LATTICE_INSIDE_${name}`;

/** Only names that a shell can export are renamed. */
const rename = (name: string): string => `export ${name}="$${nameInside(name)}"; unset ${nameInside(name)}; `;

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
  ...[...plan.names, ...plan.renamed.map(nameInside)].flatMap((variable) => ["--env", variable]),
  ...["--entrypoint", "", plan.image],
  ...["/bin/sh", "-c", `${plan.renamed.map(rename).join("")}echo $$ >"$0" && exec "$@"`, plan.pidFile],
];
