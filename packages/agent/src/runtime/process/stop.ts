// Ends the processes of an attempt. `terminate` asks each process once; `clear` does not return
// before nothing is left, however long that takes: a node that still holds a process of a past
// attempt must not be taken for free.

import type { Logger } from "pino";
import { type AttemptPlace, type Isolation, signalEach } from "../isolation/isolation.ts";

/** SIGTERM for every process but the wrapper that has not had it; answers those it has signalled. */
export async function terminate(
  isolation: Isolation,
  place: AttemptPlace,
  signalled: ReadonlySet<number>,
): Promise<readonly number[]> {
  const members = await isolation.members(place);
  const fresh = members.filter((pid) => pid !== place.leader && !signalled.has(pid));
  signalEach(fresh, "SIGTERM");
  return fresh;
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 500;
const WARN_EVERY_MS = 10_000;

export async function clear(
  isolation: Isolation,
  place: AttemptPlace,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  let waited = 0;
  let failure = "";
  while (!signal.aborted) {
    try {
      if (await isolation.remove(place)) return;
      await isolation.kill(place);
    } catch (error) {
      failure = (error as Error).message;
    }
    await sleep(pause, signal);
    waited += pause;
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    if (waited >= WARN_EVERY_MS) {
      waited = 0;
      log.warn(
        { attempt: place.key, failure },
        "processes of an ended attempt cannot be killed yet; its end is not reported",
      );
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
