// The version that a command or an entry needs. An entry written by a newer program is rejected, never guessed at.

import { COMMAND_VERSIONS, ENTRY_VERSION, FIELD_VERSIONS } from "./base/versions.ts";
import type { Command } from "./command.ts";

const FIRST_VERSION = 1;

/** Returns the lowest version of a server that applies this command as this program does. */
export function versionNeeded(command: Command): number {
  let needed = COMMAND_VERSIONS[command.kind] ?? FIRST_VERSION;
  for (const field of FIELD_VERSIONS) {
    if (field.command === command.kind && field.isUsed(command)) needed = Math.max(needed, field.version);
  }
  return needed;
}

/** Returns the version of an entry with these commands. */
export function entryVersion(commands: readonly Command[]): number {
  return commands.reduce((highest, command) => Math.max(highest, versionNeeded(command)), FIRST_VERSION);
}

export class VersionTooNewError extends Error {
  readonly index: number;
  readonly version: number;
  constructor(index: number, version: number) {
    super(
      `log entry ${index} has version ${version}, but this program understands versions up to ${ENTRY_VERSION}: ` +
        "upgrade this server before it can continue",
    );
    this.name = "VersionTooNewError";
    this.index = index;
    this.version = version;
  }
}
