// Removes checkpoints that no attempt will resume from: older ones while newer ones are taken, and all of them some
// time after the allocation has ended. The folders belong to the user, who may have replaced them, so listing and removal
// run with the rights of the folder's owner only.

import type { OwnedFolder, UserFiles } from "../files/user-files.ts";

interface Older {
  /** Checkpoints with lower numbers are removed. */
  readonly below: number;
  /** Except these. */
  readonly kept: readonly number[];
  /** The user, whose removals are limited in number. */
  readonly whose: string;
  readonly files: Pick<UserFiles, "prune">;
}

/** Resolves to null when the checkpoints are gone or never existed, else to the error. Never rejects. */
export const removeOlder = (folder: OwnedFolder, { below, kept, whose, files }: Older): Promise<string | null> =>
  asProblem(files.prune(folder, { below, kept, whose }));

/** Removes all checkpoints, and the folder itself if nothing else is in it. Never rejects. */
export const removeAll = (folder: OwnedFolder, { whose, files }: Pick<Older, "whose" | "files">) =>
  asProblem(files.prune(folder, { below: null, kept: [], whose }));

const asProblem = (work: Promise<void>): Promise<string | null> =>
  work.then(
    () => null,
    (error: Error) => error.message,
  );
