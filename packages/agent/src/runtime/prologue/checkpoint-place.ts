// Finds the folders for the checkpoints of an attempt from its order and its folder.

import type { pb } from "@lattice/wire";
import { controlFolder } from "../../checkpoint/control.ts";
import { outputFolders, ownedFolder } from "../../checkpoint/output-folders.ts";
import type { CheckpointPlace } from "../../checkpoint/target.ts";
import type { RunAs } from "../../host/user/user.ts";
import type { PrologueParts } from "../base/engine.ts";

/** Returns null when the attempt takes no checkpoints. `owner`: the user of the program, null for the agent's own. */
export function checkpointPlace(
  { outputRoot, files }: Pick<PrologueParts, "outputRoot" | "files">,
  { dir, order, owner, path }: { dir: string; order: pb.RunOrder; owner: RunAs | null; path: string },
): Omit<CheckpointPlace, "members" | "inside" | "now"> | null {
  if (order.checkpoint === undefined || outputRoot === "") return null;
  const { mode, port } = order.checkpoint;
  const { checkpoints } = outputFolders(outputRoot, order);
  const owned = ownedFolder(outputRoot, order);
  const isFirst = order.nodeIndex === 0;
  return { mode, port, control: controlFolder(dir), checkpoints, owned, isFirst, owner, files, path };
}
