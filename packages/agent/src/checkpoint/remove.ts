// Removes checkpoints that no attempt will resume from: older ones while newer ones are taken, and all of them some
// time after the allocation has ended. The folders belong to the user, who may have replaced them, so removal runs
// with the user's rights only.

import { readdir, rmdir } from "node:fs/promises";
import type { FileUser, UserFiles } from "../files/user-files.ts";

interface Older {
  /** Checkpoints with lower numbers are removed. */
  readonly below: number;
  /** Except these. */
  readonly kept: readonly number[];
  /** `null` for the agent's own user. */
  readonly owner: FileUser | null;
  readonly files: Pick<UserFiles, "remove">;
}

/** Resolves to null when the folders are gone or never existed, else to the error. Never rejects. */
export async function removeOlder(folder: string, { below, kept, owner, files }: Older): Promise<string | null> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => /^[1-9]\d{0,9}$/.test(name) && Number(name) < below && !kept.includes(Number(name)),
  );
  return files.remove(folder, names.slice(0, MAX_AT_ONCE), owner).then(
    () => null,
    (error: Error) => error.message,
  );
}

/** One request to the files helper; the next checkpoint removes the rest. */
const MAX_AT_ONCE = 1_000;

/** Removes all checkpoints, and the folder itself if nothing else is in it. */
export async function removeAll(
  folder: string,
  owner: FileUser | null,
  files: Pick<UserFiles, "remove">,
): Promise<string | null> {
  const problem = await removeOlder(folder, { below: Number.POSITIVE_INFINITY, kept: [], owner, files });
  // Fails unless it is an empty folder.
  if (problem === null) await rmdir(folder).catch(() => undefined);
  return problem;
}
