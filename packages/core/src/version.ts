// Entries written by a newer program. A replica halts on one instead of guessing at it.

import { ENTRY_VERSION } from "./command.ts";

export class VersionTooNewError extends Error {
  readonly index: number;
  readonly version: number;
  constructor(index: number, version: number) {
    super(
      `log entry ${index} has version ${version}, but this program understands versions up to ${ENTRY_VERSION}: ` +
        "upgrade this server before it can go on",
    );
    this.name = "VersionTooNewError";
    this.index = index;
    this.version = version;
  }
}
