// How a command starts on the node itself. With a user or mounts, lattice-mounts takes it there: mounts, working
// directory, user and variables in one program. A command of the agent's own user without mounts needs only its
// variables, which the wrapper exports.

import { PrologueError } from "../../base/prologue-error.ts";
import { outputFolders } from "../../checkpoint/output-folders.ts";
import { applyPatches } from "../../images/views.ts";
import type { EngineAttempt, Prepared, PrologueParts } from "../base/engine.ts";
import { type EntryStep, privateSteps, writeEntry } from "../base/entry-plan.ts";
import { isExportable } from "../base/launch-file.ts";
import { namesOutputFolder } from "../prologue/attempt-binds.ts";
import { noteHoldings } from "../prologue/attempt-holdings.ts";
import { defaultWorkdir } from "../prologue/folders.ts";
import { refuseOverlap } from "../prologue/mounts.ts";
import type { MountedUenvs } from "./prepare.ts";

export async function start(parts: PrologueParts, attempt: EngineAttempt, uenvs: MountedUenvs): Promise<Prepared> {
  const { order, dir, data, runAs, policy } = attempt;
  const { mounts } = uenvs;
  const variables = uenvs.applies
    ? { ...applyPatches(attempt.environment, uenvs.patches), LATTICE_UENV: uenvs.listed }
    : attempt.environment;
  const workdir = order.workdir || (await homeOf(parts, attempt));
  const command = [...policy, ...(policy.length > 0 ? PLAIN_EXEC : []), ...attempt.checkpointer];
  const isMounted = mounts.length + data.length > 0;
  if (isMounted) {
    refuseOverlap([...mounts, ...data]);
    if (!parts.isRoot)
      throw new PrologueError(
        mounts.length > 0 ? "uenv" : "mounts",
        "the agent does not run as root and cannot mount anything",
      );
    await noteHoldings(parts, attempt, null);
  }
  const writer = parts.files.commandFor("output", runAs);
  if (runAs === null && !isMounted && Object.keys(variables).every(isExportable))
    return { before: command, environment: variables, workdir, owner: runAs, writer, variables };
  const steps = stepsOf(parts, attempt, [...mounts, ...data]);
  const entry = writeEntry(parts.entry, {
    dir,
    user: runAs,
    steps,
    confined: runAs !== null && isMounted,
    workdir,
    home: parts.homeSource === "" || runAs === null ? null : runAs.home,
    variables: { ...variables, PWD: workdir },
    enters: steps.length > 0,
  });
  return { before: [...entry, ...command], environment: {}, workdir: "/", owner: runAs, writer, variables };
}

function stepsOf(
  { entry, outputRoot }: PrologueParts,
  { runAs, order, dir, folders }: EngineAttempt,
  mounts: readonly EntryStep[],
): readonly EntryStep[] {
  if (runAs === null || !entry.privateTmp) return mounts.length === 0 ? [] : [{ kind: "shared-memory" }, ...mounts];
  const named = namesOutputFolder(order) ? (folders.LATTICE_OUTPUT_DIR ?? "") : "";
  if (named.startsWith("/tmp/"))
    throw new PrologueError("output", `${named} is below /tmp, which each allocation has for itself on this node`);
  const output = outputRoot === "" ? [] : [outputFolders(outputRoot, order).output];
  const scratch = folders.LATTICE_SCRATCH === undefined ? [] : [folders.LATTICE_SCRATCH];
  return [...privateSteps([dir, ...scratch, ...output, ...entry.offers], entry.privateTmpBytes), ...mounts];
}

async function homeOf(parts: PrologueParts, attempt: EngineAttempt): Promise<string> {
  return attempt.data.find(({ at }) => at === attempt.runAs?.home)?.at ?? defaultWorkdir(parts, attempt);
}

/** numactl reports a missing command with another exit code than a shell. */
const PLAIN_EXEC = ["/bin/sh", "-c", 'exec "$@"', "sh"];
