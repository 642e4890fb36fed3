// Structured logs in the same shape as the servers', so that one query reads both: one JSON object per line on stderr,
// the level as a word, the time as ISO 8601, the text under `message`.

import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";

interface LoggerOptions {
  readonly level: string;
  /** Shown in every line. */
  readonly node?: string;
  /** File descriptor; stderr unless stated. */
  readonly fd?: number;
  /** Instead of a file descriptor. */
  readonly out?: DestinationStream;
}

const STDERR = 2;
/** Keys of every line; a field of the same name would be a second one, and readers take one of the two. */
const RESERVED: readonly string[] = ["level", "time", "node", "message"];

export function createLogger({ level, node, fd = STDERR, out }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: node === undefined ? null : { node },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutReserved },
      messageKey: "message",
    },
    // Written synchronously: the last lines before a crash matter most.
    out ?? destination({ dest: fd, sync: true }),
  );
}

/** Renames reserved fields, such as `message` to `message_`. */
function withoutReserved(fields: Record<string, unknown>): Record<string, unknown> {
  if (!RESERVED.some((key) => Object.hasOwn(fields, key))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [RESERVED.includes(key) ? `${key}_` : key, value]),
  );
}
