// Ends the processes of an attempt. `terminate` signals each process once; `stop` returns only when nothing is left,
// however long that takes: a node that still holds a process of a past attempt must not count as free.

import { type AttemptPlace, type Isolation, signalEach } from "../../host/isolation/isolation.ts";
import type { StopContext } from "../base/engine.ts";

/** Sends SIGTERM to every process but the wrapper that has not received it; returns the signalled processes. */
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
const MAX_PAUSE_MS = 500;
const WARN_EVERY_MS = 10_000;

export async function stop(place: AttemptPlace, { isolation, signal, log }: StopContext): Promise<void> {
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
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
    if (waited >= WARN_EVERY_MS) {
      waited = 0;
      log.warn(
        { attempt: place.key, failure },
        "processes of an ended attempt survive SIGKILL; its end is not reported yet",
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
