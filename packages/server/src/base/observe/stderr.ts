// Keeps standard error to log lines: warnings of Node, messages of gRPC, exceptions that nothing caught, and the reason
// why the program cannot start. A person at a terminal reads that reason as text.

import type { EventEmitter } from "node:events";
import { setLogger } from "@grpc/grpc-js";
import { createLogger, type Logger } from "./logger.ts";

interface Stderr {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Reports why the program ends before it has a logger. */
export function reportFatal(program: string, message: string, stderr: Stderr = process.stderr): void {
  if (stderr.isTTY === true) stderr.write(`${program}: ${message}\n`);
  else createLogger({ level: "fatal", out: stderr }).fatal(message);
}

/** `source` is the process. Calls `exit` after an exception that nothing caught: the state is unknown. */
export function logStderr(source: EventEmitter, logger: Logger, exit: (code: number) => void): void {
  // Node's own listener writes text.
  source.removeAllListeners("warning");
  source.on("warning", ({ name, message }: Error) => {
    // Only a new version of the program can answer a deprecation.
    if (name === "DeprecationWarning") logger.debug({ warning: name }, message);
    else logger.warn({ warning: name }, message);
  });
  source.on("uncaughtException", (error: unknown) => {
    logger.fatal({ err: error }, "internal error: the server ends");
    exit(1);
  });
  const say = (...words: readonly unknown[]) => logger.warn({ component: "grpc" }, words.map(String).join(" "));
  setLogger({ error: say, info: say, debug: say });
}
