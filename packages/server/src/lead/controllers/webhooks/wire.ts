// Transport of webhooks: one POST with a timeout, without following redirects. A simulation
// replaces it with its own network.

import { withDeadline } from "@lattice/wire";

interface HookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HookWire {
  /** Returns the HTTP status; rejects without an answer. */
  post(request: HookRequest, signal: AbortSignal): Promise<number>;
  /** Random number from 0 to 1, to spread the retries. */
  chance(): number;
}

/** Longest wait for an answer. */
const ANSWER_MS = 10_000;

export const platformWire: HookWire = {
  async post({ url, headers, body }, signal) {
    const within = withDeadline(signal, ANSWER_MS);
    const answer = await fetch(url, { method: "POST", redirect: "error", headers, body, signal: within });
    await answer.body?.cancel();
    return answer.status;
  },
  chance: Math.random,
};
