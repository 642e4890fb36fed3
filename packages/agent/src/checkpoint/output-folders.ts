// The folders of an allocation that outlive its attempts: output, and checkpoints below it.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import type { OwnedFolder } from "../files/user-files.ts";

type Whose = Pick<pb.RunOrder, "tenant" | "project" | "allocationId">;

export function outputFolders(root: string, whose: Whose) {
  const output = join(root, ...partsOf(whose));
  return { output, checkpoints: join(output, CHECKPOINTS) };
}

/** The folders of a tenant and a project belong to the site, the folder of an allocation and all below it to its user. */
export const ownedFolder = (root: string, whose: Whose): OwnedFolder => {
  const parts = partsOf(whose);
  return { base: root, parts: [...parts, CHECKPOINTS], ownedFrom: parts.length - 1, mode: 0o755 };
};

const CHECKPOINTS = "checkpoints";

const partsOf = ({ tenant, project, allocationId }: Whose): readonly string[] => [
  tenant,
  folderName(project),
  allocationId,
];

/** A project is free text and must not escape the output root. */
const folderName = (project: string): string => project.replace(/[^\w-]/g, "_") || "default";
