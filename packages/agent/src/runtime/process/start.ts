// How a command starts on the node itself: change of user, working directory, environment and memory policy as words
// before the command. Mounts need root and a mount namespace, made by the enter script.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PrologueError } from "../../base/prologue-error.ts";
import { enterWorkdir } from "../../host/user/enter-workdir.ts";
import { splitEnvironment } from "../../host/user/safe-environment.ts";
import { asUser } from "../../host/user/user.ts";
import { applyPatches } from "../../images/views.ts";
import { enterScript, enterWords } from "../attempt/enter-script.ts";
import type { EngineAttempt, Prepared, PrologueParts } from "../engine.ts";
import { noteHeld } from "../prologue/attempt-holdings.ts";
import { defaultWorkdir } from "../prologue/folders.ts";
import { checkTargets } from "../prologue/mounts.ts";
import type { MountedUenvs } from "./prepare.ts";

export async function start(parts: PrologueParts, attempt: EngineAttempt, uenvs: MountedUenvs): Promise<Prepared> {
  const { order, dir, data, runAs, policy } = attempt;
  const { mounts } = uenvs;
  const environment = uenvs.applies
    ? { ...applyPatches(attempt.environment, uenvs.patches), LATTICE_UENV: uenvs.listed }
    : attempt.environment;
  const reportsLaunchFailure = runAs !== null && order.workdir !== "";
  const workdir = reportsLaunchFailure ? "/" : order.workdir || (await homeOf(attempt));
  const { safe, later } = runAs === null ? { safe: environment, later: [] } : splitEnvironment(environment);
  const before = [
    ...policy,
    ...(runAs === null ? [] : asUser(runAs, mounts.length + data.length > 0)),
    ...(reportsLaunchFailure ? enterWorkdir(order.workdir, runAs.name) : []),
    ...withVariables(later),
    ...(policy.length > 0 && runAs === null ? PLAIN_EXEC : []),
    ...attempt.checkpointer,
  ];
  const plan = {
    reportsLaunchFailure,
    environment: safe,
    uid: runAs?.uid ?? null,
    writer: runAs === null ? [] : asUser(runAs, true),
    variables: environment,
  };
  if (mounts.length === 0 && data.length === 0) return { ...plan, before, workdir };
  const script = join(dir, "enter");
  await checkTargets([...mounts, ...data]);
  if (!parts.isRoot)
    throw new PrologueError(
      mounts.length > 0 ? "uenv" : "mounts",
      "the agent does not run as root and cannot mount anything",
    );
  await noteHeld(parts, attempt, null);
  const text = enterScript({ dir, images: mounts, data, workdir, before, byEngine: false });
  await writeFile(script, text, { mode: 0o600 });
  return { ...plan, before: enterWords(script), workdir: "/" };
}

async function homeOf({ data, runAs, dir, folders }: EngineAttempt): Promise<string> {
  return data.find(({ at }) => at === runAs?.home)?.at ?? defaultWorkdir(runAs, dir, folders);
}

/** env would take a command with "=" in its name for a variable; the shell's exec does not. */
const PLAIN_EXEC = ["/bin/sh", "-c", 'exec "$@"', "sh"];

const withVariables = (later: readonly string[]): readonly string[] =>
  later.length === 0 ? [] : ["/usr/bin/env", ...later, ...PLAIN_EXEC];
