// Structured logs: one JSON object per line on stderr. stdout is for the output of the program.

import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../config/index.ts";

export type { Logger } from "pino";

interface LoggerOptions {
  readonly level: LogLevel;
  /** Shown in every line. */
  readonly server?: string;
  /** A file descriptor. Default: stderr. */
  readonly fd?: number;
}

const STDERR = 2;

export function createLogger(options: LoggerOptions): Logger {
  // Synchronous, so that the last lines before a crash are written.
  const out = destination({ dest: options.fd ?? STDERR, sync: true });
  return pino(
    {
      level: options.level,
      base: options.server === undefined ? null : { server: options.server },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: "message",
    },
    out,
  );
}
