// The last resort for errors that nothing caught. A promise that fails unnoticed belongs to one piece of work, so the
// agent logs it, counts it and continues. After an exception in a callback its state is unknown: it ends with a clear
// message and is restarted by its service manager; workloads outlive it.

import type { Logger } from "pino";

interface ErrorSource {
  on(event: "unhandledRejection" | "uncaughtException", hear: (error: unknown) => void): unknown;
}

/** EX_SOFTWARE of sysexits.h. */
const EXIT_CODE = 70;

/** Returns a function for the number of errors so far. */
export function watchInternalErrors(source: ErrorSource, log: Logger, exit: (code: number) => void): () => number {
  let count = 0;
  source.on("unhandledRejection", (error) => {
    count += 1;
    log.error({ error: textOf(error) }, "internal error: a promise failed and nothing handled it; the agent continues");
  });
  source.on("uncaughtException", (error) => {
    log.fatal({ error: textOf(error) }, "internal error: the agent ends; workloads continue without it");
    exit(EXIT_CODE);
  });
  return () => count;
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
