// Structured logs: one JSON object per line on stderr. stdout stays free for what a program was
// asked to print.

import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../config/index.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Shown in every line. */
  readonly server?: string;
  /** File descriptor; stderr unless stated. */
  readonly fd?: number;
}

const STDERR = 2;

export function createLogger(options: LoggerOptions): Logger {
  // Written at once: the last lines before a crash are the ones that matter.
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
