// Decides which attempts may be on the node together. An order can arrive while an older attempt is in its grace
// period; the newer one then waits. Waiting attempts start in order of arrival; otherwise a stream of shared attempts
// could starve an exclusive one.

import type { LiveAttempt } from "./attempt.ts";

/** Returns whether a new order has to wait. `live` holds every attempt on the node that is not over. */
export function mustWait(live: ReadonlyMap<string, LiveAttempt>, exclusive: boolean): boolean {
  for (const other of live.values()) if (exclusive || other.exclusive || other.kind === "waiting") return true;
  return false;
}

/** Returns the waiting attempts that may start now. `live` is in order of arrival. */
export function nextTurns(live: ReadonlyMap<string, LiveAttempt>): readonly string[] {
  let here = 0;
  let exclusiveHere = false;
  for (const attempt of live.values()) {
    if (attempt.kind === "waiting") continue;
    here += 1;
    exclusiveHere ||= attempt.exclusive;
  }
  const turns: string[] = [];
  for (const [key, attempt] of live) {
    if (attempt.kind !== "waiting") continue;
    if (exclusiveHere || (attempt.exclusive && here > 0)) break;
    here += 1;
    exclusiveHere = attempt.exclusive;
    turns.push(key);
  }
  return turns;
}
