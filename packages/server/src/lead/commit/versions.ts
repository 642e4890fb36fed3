// Rejects commands that some connected server cannot apply. A server of the previous version halts on an entry that it does not
// understand, so such an entry is not written while one is connected.

import { type Command, isCommandKind, versionNeeded } from "@lattice/core";
import { ProblemError } from "@lattice/wire";

/** Another server, and the newest entries that it can apply. */
export interface EntryReader {
  readonly id: string;
  readonly entryVersion: number;
}

/** Returns `null` when every server can apply the command, this one included. */
export function tooNewFor(command: Command, readers: () => readonly EntryReader[]): ProblemError | null {
  if (!isCommandKind(command.kind)) return unknownHere(command);
  const needed = versionNeeded(command);
  // Nearly every command: avoids listing the servers.
  if (needed === 1) return null;
  const older = readers().filter(({ entryVersion }) => entryVersion < needed);
  if (older.length === 0) return null;
  const names = older.map(({ id, entryVersion }) => `${id} understands version ${entryVersion}`).join(", ");
  return new ProblemError("upgrade_unfinished", {
    detail: `This needs version ${needed} of the log's entries on every server, but ${names}.`,
  });
}

const unknownHere = ({ kind }: Command): ProblemError =>
  new ProblemError("upgrade_unfinished", { detail: `The leading server does not know the command "${kind}" yet.` });
