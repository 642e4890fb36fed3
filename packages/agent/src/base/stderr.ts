// Keeps standard error to log lines: warnings of Node, messages of gRPC, and faults of the command line. A person at a
// terminal reads the latter as text.

import type { EventEmitter } from "node:events";
import { setLogger } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { createLogger } from "./logger.ts";

interface Stderr {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Reports a fault of the command line. */
export function reportUsage(text: string, stderr: Stderr = process.stderr): void {
  if (stderr.isTTY === true) stderr.write(text);
  else createLogger({ level: "fatal", out: stderr }).fatal(text.trim());
}

/** `source` is the process. */
export function logStderr(source: EventEmitter, log: Logger): void {
  // Node's own listener writes text.
  source.removeAllListeners("warning");
  source.on("warning", ({ name, message }: Error) => {
    // Only a new version of the program can answer a deprecation.
    if (name === "DeprecationWarning") log.debug({ warning: name }, message);
    else log.warn({ warning: name }, message);
  });
  const say = (...words: readonly unknown[]): void => log.warn({ component: "grpc" }, words.map(String).join(" "));
  setLogger({ error: say, info: say, debug: say });
}
