// Idempotency: an answered request is remembered for a day of log time, including refusals, and a repetition gets the
// same answer. The memory is bounded, and each user's part of it: beyond a bound the oldest answers are dropped early, a
// user's own ones first, so that no user takes the answers of others away.

import type { Outcome } from "../base/outcome.ts";
import { quote, refuse, refuseFields } from "../base/outcome.ts";
import type { Origin } from "../model/origin.ts";
import type { Step } from "./step.ts";

const REQUEST_MEMORY_MS = 24 * 3600 * 1000;
/** At most about 40 MB. */
const MAX_REQUESTS = 100_000;
/** Many more than a user repeats. */
const MAX_REQUESTS_PER_USER = 10_000;
export const MAX_REQUEST_ID_LENGTH = 256;

export function answerOnce(step: Step, origin: Origin, command: string, act: () => Outcome): Outcome {
  const { user, requestId, bodyHash } = origin;
  if (requestId === null) return act();
  if (requestId.length === 0 || requestId.length > MAX_REQUEST_ID_LENGTH) {
    return refuseFields([{ field: "request_id", detail: `must have 1 to ${MAX_REQUEST_ID_LENGTH} characters` }]);
  }
  const known = step.state.request(user, requestId);
  if (known !== undefined && (known.bodyHash !== bodyHash || known.command !== command)) {
    return refuse("request_conflict", `request id ${quote(requestId)} was used before with another request`);
  }
  if (known !== undefined) {
    return known.outcome.kind === "accepted" ? { ...known.outcome, repeated: true } : known.outcome;
  }
  const outcome = act();
  const n = step.state.counters.nextRequest;
  step.state.counters.nextRequest += 1;
  step.state.putRequest({ n, user, requestId, command, bodyHash, outcome, at: step.at });
  const { count, oldest } = step.state.requestsOf(user);
  if (count > MAX_REQUESTS_PER_USER && oldest !== undefined) step.state.removeRequest(oldest);
  return outcome;
}

/** Called before the commands of an entry, so that the window is exact. */
export function forgetOldRequests(step: Step): void {
  const { requests } = step.state.tables;
  // In the order of their numbers, so the first is the oldest.
  for (const oldest of requests.values()) {
    const old = oldest.at + REQUEST_MEMORY_MS <= step.at;
    if (!old && requests.size <= MAX_REQUESTS) return;
    step.state.removeRequest(oldest);
  }
}
