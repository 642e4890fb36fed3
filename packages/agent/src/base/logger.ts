// Structured logs in the same shape as the servers', so that one query reads both: one JSON object per line on stderr,
// the level as a word, the time as ISO 8601, the text under `message`.

import { destination, type Logger, pino, stdTimeFunctions } from "pino";

interface LoggerOptions {
  readonly level: string;
  /** Shown in every line. */
  readonly node: string;
  /** File descriptor; stderr unless stated. */
  readonly fd?: number;
}

const STDERR = 2;

export function createLogger({ level, node, fd = STDERR }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { node },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: "message",
    },
    // Written synchronously: the last lines before a crash matter most.
    destination({ dest: fd, sync: true }),
  );
}
