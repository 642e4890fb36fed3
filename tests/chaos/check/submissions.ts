// Every acknowledged submission is in the log once, under its id, and completed on every server. An unacknowledged one
// may be there, but not twice.
import type { History } from "../history.ts";
import type { Violation } from "./check.ts";
import type { Folded } from "./fold.ts";

export function checkSubmissions({ submissions, contradictions, end }: History, folded: Folded): Violation[] {
  const found: Violation[] = [];
  const say = (rule: Violation["rule"], detail: string): void => void found.push({ rule, detail });
  for (const { requestId, id, refusal } of submissions) {
    const made = folded.byRequest.get(requestId) ?? [];
    if (made.length > 1) say("lost", `request ${requestId} made ${made.join(" and ")}`);
    if (refusal !== null) say("outcome", `request ${requestId} was refused: ${refusal}`);
    if (id === null) continue;
    if (!made.includes(id)) say("lost", `request ${requestId} was answered with ${id}, which the log does not hold`);
    for (const [server, states] of end.allocations) {
      const state = states.get(id) ?? null;
      if (state === null) say("lost", `${server} does not know ${id}, acknowledged for ${requestId}`);
      else if (state !== "completed") say("outcome", `${id} (${requestId}) is ${state} on ${server} at the end`);
    }
  }
  for (const detail of contradictions) say("lost", detail);
  return found;
}
