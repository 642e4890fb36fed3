// The table of versions of log entries and snapshots. A program applies entries up to ENTRY_VERSION and writes each
// entry with the lowest version that its commands need, so that servers of this version and of the previous one share a
// log as long as no server uses a newer command or field. This file holds data only: tests replace it with the table of
// a made-up next version.

/** The newest version that this program applies and reads from snapshots. */
export const ENTRY_VERSION = 1;

/** The first version of each command that is newer than version 1. */
export const COMMAND_VERSIONS: Readonly<Record<string, number>> = {};

/** The first version of a field that changes the decision of `apply`. */
interface FieldVersion {
  /** The kind of the command that has the field. */
  readonly command: string;
  readonly version: number;
  isUsed(command: { readonly kind: string }): boolean;
}

export const FIELD_VERSIONS: readonly FieldVersion[] = [];
