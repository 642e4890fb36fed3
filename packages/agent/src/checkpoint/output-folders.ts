// The folders of an allocation that outlive its attempts: output, and checkpoints below it.

import { join } from "node:path";
import type { pb } from "@lattice/wire";

export function outputFolders(
  root: string,
  { tenant, project, allocationId }: Pick<pb.RunOrder, "tenant" | "project" | "allocationId">,
) {
  const output = join(root, tenant, folderName(project), allocationId);
  return { output, checkpoints: join(output, "checkpoints") };
}

/** A project is free text and must not escape the output root. */
const folderName = (project: string): string => project.replace(/[^\w-]/g, "_") || "default";
