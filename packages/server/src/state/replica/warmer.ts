// Keeps the state hash nearly up to date in small turns, so that a snapshot does not compute it at once.

import { duration } from "@lattice/core";
import type { Clock } from "../../base/clock.ts";

/** Records hashed in one turn: about a millisecond. */
export const WARM_RECORDS = 64;
/** Pause between turns. */
const WARM_PAUSE = duration(10);

/** `turn` returns whether more remains to be done. */
export function createWarmer(clock: Clock, turn: () => boolean) {
  let cancel: (() => void) | null = null;
  let more = true;
  const run = () => {
    cancel = null;
    more = turn();
    if (more) later();
  };
  const later = () => {
    cancel ??= clock.after(WARM_PAUSE, run);
  };
  return { later, done: () => !more, close: () => cancel?.() };
}
