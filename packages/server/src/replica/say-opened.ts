// How long a server took to have its state again, for whoever wonders what a restart waits for.

import type { Logger } from "pino";
import type { Replica } from "./replica.ts";

/** `began` and `opened`: when opening the log was begun, and done, on the steady clock. */
export function sayOpened(logger: Logger, replica: Replica, began: number, opened: number): void {
  const logMs = Math.round(opened - began);
  const stateMs = Math.round(performance.now() - opened);
  logger.info({ index: replica.head().index, logMs, stateMs }, "the log is open and the state restored");
}
