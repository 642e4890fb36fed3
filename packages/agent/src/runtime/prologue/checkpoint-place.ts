// Finds the folders for the checkpoints of an attempt from its order and its folder.

import { statSync } from "node:fs";
import type { pb } from "@lattice/wire";
import { controlFolder, type FileOwner } from "../../checkpoint/control.ts";
import { outputFolders } from "../../checkpoint/output-folders.ts";
import type { CheckpointPlace } from "../../checkpoint/target.ts";
import type { PrologueParts } from "../engine.ts";

/** Returns null when the attempt takes no checkpoints. */
export function checkpointPlace(
  { outputRoot }: Pick<PrologueParts, "outputRoot">,
  dir: string,
  order: pb.RunOrder,
): Omit<CheckpointPlace, "members" | "first" | "now"> | null {
  if (order.checkpoint === undefined || outputRoot === "") return null;
  const control = controlFolder(dir);
  const { mode, port } = order.checkpoint;
  const { checkpoints } = outputFolders(outputRoot, order);
  return { mode, port, control, checkpoints, isFirst: order.nodeIndex === 0, owner: ownerOf(control) };
}

/** The owner of the control folder is the user of the program. */
function ownerOf(control: string): FileOwner | null {
  const found = statSync(control, { throwIfNoEntry: false });
  return found === undefined || found.uid === process.getuid?.() ? null : { uid: found.uid, gid: found.gid };
}
