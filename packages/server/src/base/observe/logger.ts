// Structured logs: one JSON object per line on stderr. stdout is for the output of the program.

import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../config/index.ts";

export type { Logger } from "pino";

interface LoggerOptions {
  readonly level: LogLevel;
  /** Shown in every line. */
  readonly server?: string;
  /** A file descriptor. Default: stderr. */
  readonly fd?: number;
  /** Instead of a file descriptor. */
  readonly out?: DestinationStream;
}

const STDERR = 2;
/** Keys of every line; a field of the same name would be a second one, and readers take one of the two. */
const RESERVED: readonly string[] = ["level", "time", "server", "message"];

export function createLogger(options: LoggerOptions): Logger {
  // Synchronous, so that the last lines before a crash are written.
  const out = options.out ?? destination({ dest: options.fd ?? STDERR, sync: true });
  return pino(
    {
      level: options.level,
      base: options.server === undefined ? null : { server: options.server },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutReserved },
      messageKey: "message",
    },
    out,
  );
}

/** Renames reserved fields, such as `message` to `message_`. */
function withoutReserved(fields: Record<string, unknown>): Record<string, unknown> {
  if (!RESERVED.some((key) => Object.hasOwn(fields, key))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [RESERVED.includes(key) ? `${key}_` : key, value]),
  );
}
