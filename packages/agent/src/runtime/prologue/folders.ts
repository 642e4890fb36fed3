// The folders of an attempt: scratch, which is removed with it, and output and checkpoints, which stay. They belong to
// the user it runs as.

import { join } from "node:path";
import { PrologueError } from "../../base/prologue-error.ts";
import { outputFolders, ownedFolder } from "../../checkpoint/output-folders.ts";
import { handOver } from "../../files/own-tree.ts";
import type { FileError } from "../../files/user-files.ts";
import type { RunAs } from "../../host/user/user.ts";
import type { EngineAttempt, PrologueParts, PrologueTarget } from "../base/engine.ts";
import { checkDefaults, checkScratch, ownOutput } from "./requested-folders.ts";

/** Returns the variables that name them. */
export async function makeFolders(
  parts: PrologueParts,
  target: PrologueTarget,
  runAs: RunAs | null,
): Promise<Record<string, string>> {
  await checkDefaults(parts, target.order, runAs);
  await checkScratch(parts, target);
  return { ...(await siteFolders(parts, target, runAs)), ...(await ownOutput(target.order, runAs, parts.files)) };
}

async function siteFolders(
  { scratch: folders, outputRoot, files }: PrologueParts,
  { key, order }: PrologueTarget,
  runAs: RunAs | null,
): Promise<Record<string, string>> {
  const scratch = scratchFolder(() => folders.make(key, runAs));
  const metricsVariables: Record<string, string> =
    order.measured === true ? { LATTICE_METRICS_FILE: metricsFile(scratch) } : {};
  if (outputRoot === "") return { LATTICE_SCRATCH: scratch, ...metricsVariables };
  const { output, checkpoints } = outputFolders(outputRoot, order);
  await files.makeOwned(ownedFolder(outputRoot, order), runAs).catch((error: FileError) => {
    throw new PrologueError(USERS_DOING.has(error.code) ? "output" : "scratch", error.message);
  });
  const kept = { LATTICE_OUTPUT: output, LATTICE_OUTPUT_DIR: output, LATTICE_CHECKPOINT_DIR: checkpoints };
  return { LATTICE_SCRATCH: scratch, ...kept, ...metricsVariables };
}

/** Errors that a user can cause in its own output folder. Such a failure does not count against the node. */
const USERS_DOING: ReadonlySet<string> = new Set(["ELOOP", "ENOTDIR", "EACCES", "EXDEV", "EDQUOT"]);

function scratchFolder(make: () => string): string {
  try {
    return make();
  } catch (error) {
    throw new PrologueError("scratch", (error as Error).message);
  }
}

/** File in which a service's programs report their metrics. */
export const metricsFile = (scratch: string): string => join(scratch, "metrics");

export const giveScript = (path: string, user: RunAs): void => handOver(path, user, 0o500, "file");

/** The attempt's directory belongs to root, so a user starts at home or in the scratch directory. */
export async function defaultWorkdir(
  { files }: Pick<PrologueParts, "files">,
  { runAs, dir, folders }: Pick<EngineAttempt, "runAs" | "dir" | "folders">,
): Promise<string> {
  if (runAs === null) return dir;
  return files.reach(runAs.home, runAs).then(
    () => runAs.home,
    () => folders.LATTICE_SCRATCH ?? "/",
  );
}
