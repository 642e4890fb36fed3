// Encodes log entries as text. Decoding checks what a newer or foreign writer could get wrong (version, numbering,
// kinds of command); the content of a command was checked when it was created and is covered by the log's checksums.

import { canonical } from "./base/canonical.ts";
import { ENTRY_VERSION } from "./base/versions.ts";
import type { Entry } from "./command.ts";
import { isCommandKind } from "./handlers.ts";
import { VersionTooNewError } from "./version.ts";

export class EntryFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EntryFormatError";
  }
}

export const encodeEntry = (entry: Entry): string => canonical(entry);

export function decodeEntry(text: string): Entry {
  const value = parse(text);
  const { index, term, version, at, prevHash, commands } = value;
  if (!isCount(version)) throw new EntryFormatError("a log entry has no version");
  if (version > ENTRY_VERSION) throw new VersionTooNewError(isCount(index) ? index : 0, version);
  if (!isCount(index) || index < 1) throw new EntryFormatError("a log entry has no index");
  if (!isCount(term) || !isCount(at)) throw new EntryFormatError(`log entry ${index} has no term or no time`);
  if (typeof prevHash !== "string") throw new EntryFormatError(`log entry ${index} is not chained`);
  if (!Array.isArray(commands)) throw new EntryFormatError(`log entry ${index} has no list of commands`);
  for (const command of commands) checkKind(index, command);
  return value as unknown as Entry;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EntryFormatError("a log entry is not JSON");
  }
  if (!isObject(value)) throw new EntryFormatError("a log entry is not an object");
  return value;
}

function checkKind(index: number, command: unknown): void {
  const kind = isObject(command) ? command.kind : undefined;
  if (typeof kind === "string" && isCommandKind(kind)) return;
  throw new EntryFormatError(`log entry ${index} holds an unknown command ${JSON.stringify(kind)}`);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
