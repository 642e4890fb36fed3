// Where the checkpoints of an attempt are asked for and kept, found again from its order and its folder.

import { statSync } from "node:fs";
import { controlFolder, type Owner } from "../checkpoint/control.ts";
import type { Place } from "../checkpoint/target.ts";
import type { Order } from "../lifecycle/attempt.ts";
import { outputFolders } from "./folders.ts";
import type { PrologueParts } from "./parts.ts";

/** Null: it takes none. */
export function checkpointPlace(
  { outputRoot }: Pick<PrologueParts, "outputRoot">,
  dir: string,
  order: Order,
): Omit<Place, "members" | "first" | "now"> | null {
  if (order.checkpoint === undefined || outputRoot === "") return null;
  const control = controlFolder(dir);
  const { mode, port } = order.checkpoint;
  const { checkpoints } = outputFolders(outputRoot, order);
  return { mode, port, control, checkpoints, isFirst: order.nodeIndex === 0, owner: ownerOf(control) };
}

/** Of the folder between agent and program: whose program it is. */
function ownerOf(control: string): Owner | null {
  const found = statSync(control, { throwIfNoEntry: false });
  return found === undefined || found.uid === process.getuid?.() ? null : { uid: found.uid, gid: found.gid };
}
