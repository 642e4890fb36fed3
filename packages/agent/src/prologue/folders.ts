// The folders of an attempt: scratch, which goes with it, and output and checkpoints, which stay. They belong
// to whom it runs as.

import { chmodSync, chownSync } from "node:fs";
import { chown, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Order } from "../lifecycle/attempt.ts";
import type { RunAs } from "../runtime/user/user.ts";
import { checkDefaults, checkScratch, ownOutput } from "./asked-folders.ts";
import type { PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";

/** Answers the variables that name them. */
export async function makeFolders(
  parts: PrologueParts,
  target: Target,
  runAs: RunAs | null,
): Promise<Record<string, string>> {
  await checkDefaults(parts, target.order, runAs);
  await checkScratch(parts, target);
  return { ...(await siteFolders(parts, target, runAs)), ...(await ownOutput(target.order, runAs)) };
}

async function siteFolders(
  { scratch: folders, outputRoot }: PrologueParts,
  { key, order }: Target,
  runAs: RunAs | null,
): Promise<Record<string, string>> {
  try {
    const scratch = folders.make(key, runAs);
    const said: Record<string, string> = order.measured === true ? { LATTICE_METRICS_FILE: metricsFile(scratch) } : {};
    if (outputRoot === "") return { LATTICE_SCRATCH: scratch, ...said };
    const { output, checkpoints } = outputFolders(outputRoot, order);
    await mkdir(checkpoints, { recursive: true });
    if (runAs !== null) for (const path of [output, checkpoints]) await chown(path, runAs.uid, runAs.gid);
    const kept = { LATTICE_OUTPUT: output, LATTICE_OUTPUT_DIR: output, LATTICE_CHECKPOINT_DIR: checkpoints };
    return { LATTICE_SCRATCH: scratch, ...kept, ...said };
  } catch (error) {
    throw new PrologueError("scratch", (error as Error).message);
  }
}

/** In which the programs of a service may say how they fare. */
export const metricsFile = (scratch: string): string => join(scratch, "metrics");

export function outputFolders(
  root: string,
  { tenant, project, allocationId }: Pick<Order, "tenant" | "project" | "allocationId">,
) {
  const output = join(root, tenant, folderName(project), allocationId);
  return { output, checkpoints: join(output, "checkpoints") };
}

/** Projects are free text, and must not lead anywhere. */
const folderName = (project: string): string => project.replace(/[^\w-]/g, "_") || "default";

export function giveScript(path: string, { uid, gid }: RunAs): void {
  chmodSync(path, 0o500);
  chownSync(path, uid, gid);
}

/** The attempt's own folder belongs to root; a user stands at home, or in the scratch folder. */
export async function defaultWorkdir(
  runAs: RunAs | null,
  dir: string,
  folders: Record<string, string>,
): Promise<string> {
  if (runAs === null) return dir;
  const home = await stat(runAs.home).catch(() => null);
  return home?.isDirectory() === true ? runAs.home : (folders.LATTICE_SCRATCH ?? "/");
}
