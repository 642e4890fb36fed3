// Who may be on the node together. An order can come while something of an older attempt is still
// here, in its grace period for instance: the newer one then waits. Attempts that wait begin in the
// order they arrived; none overtakes, or a steady stream of shared ones would keep an exclusive one
// out for ever. This decides who begins; it starts nothing.

import type { LiveAttempt } from "./attempt.ts";

/** Whether a new order has to wait. `live`: every attempt on the node that is not over. */
export function mustWait(live: ReadonlyMap<string, LiveAttempt>, exclusive: boolean): boolean {
  for (const other of live.values()) if (exclusive || other.exclusive || other.kind === "waiting") return true;
  return false;
}

/** The waiting attempts that may begin now. `live` is in order of arrival. */
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
