// Finds the identity that the folder of an ended allocation was made for. With a mapping it is the user's account.
// Without one a container ran as nobody, and everything else as the agent: the folder itself says which.

import { lstat } from "node:fs/promises";
import { NOBODY, type RunAs } from "../host/user/user.ts";
import type { PrologueParts } from "../runtime/engine.ts";

/** `folder`: one whose parent only the agent can write, so that its owner is the one it was given. */
export async function folderOwner(
  { users, mapping, isRoot }: Pick<PrologueParts, "users" | "mapping" | "isRoot">,
  user: string,
  folder: string,
): Promise<RunAs | null> {
  const mapped = await users.find(mapping, user);
  if (mapped !== null || !isRoot) return mapped;
  const found = await lstat(folder).catch(() => null);
  return found?.uid === NOBODY.uid ? NOBODY : null;
}
