// Whether agents know entries of the log that this server does not have. Then it has lost entries, or its log is an older
// copy. The metric and the log line end when the server has those entries, or when no agent names them any more: a
// refused agent tries again after a minute at most. No notice is raised: every entry that this server adds would make its
// log look newer to the agents.

import { duration } from "@lattice/core";
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";

const CHECK_EVERY = duration(1_000);
export const LOG_EVERY_MS = 60_000;
export const FORGET_AFTER_MS = 5 * 60_000;

export interface MissingEntries {
  /** An agent of this cluster knows the log up to `index`, which this server has not applied. */
  known(node: string, index: number): void;
  close(): void;
}

interface Options {
  readonly appliedIndex: () => number;
  /** The number of entries; 0 for none. */
  readonly measured: (entries: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createMissingEntries({ appliedIndex, measured, clock, logger }: Options): MissingEntries {
  let mostKnown = 0;
  let knownAt = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;

  const check = (): void => {
    const missing = mostKnown - appliedIndex();
    const isForgotten = clock.worked() - knownAt >= FORGET_AFTER_MS;
    measured(isForgotten ? 0 : Math.max(0, missing));
    if (missing > 0 && !isForgotten) {
      cancel = clock.after(CHECK_EVERY, check);
      return;
    }
    cancel = null;
    mostKnown = 0;
    loggedAt = Number.NEGATIVE_INFINITY;
    const outcome = missing > 0 ? "no agent names missing entries any more" : "no entry is missing any more";
    logger.info({ applied: appliedIndex() }, outcome);
  };

  return {
    known(node, index) {
      knownAt = clock.worked();
      mostKnown = Math.max(mostKnown, index);
      const applied = appliedIndex();
      measured(Math.max(0, mostKnown - applied));
      if (knownAt - loggedAt >= LOG_EVERY_MS) {
        loggedAt = knownAt;
        logger.error({ node, known: index, applied }, "this server has lost entries of the log that agents know");
      }
      cancel ??= clock.after(CHECK_EVERY, check);
    },
    close: () => cancel?.(),
  };
}
