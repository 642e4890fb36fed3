// Transport of webhooks: one POST with a timeout, without following redirects. A simulation with its own network
// brings another.

import { withDeadline } from "@lattice/wire";

export interface HookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HookWire {
  /** The status of the answer; rejects when there is none. */
  post(request: HookRequest, signal: AbortSignal): Promise<number>;
  /** From 0 to 1, so that receivers are not asked by all at once. */
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
