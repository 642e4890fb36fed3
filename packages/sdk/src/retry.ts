// Decides which failures are retried, and when. A change is repeated only when it carries a request id, when it was
// never sent, or when the server refused it before doing anything. Delays double, with jitter so that the clients of a
// restarted server do not return in step.

import { TransportError } from "./transport/transport.ts";

export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly retries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** No attempt starts later than this after the first one. */
  readonly deadlineMs: number;
}

/** About two seconds in total: covers a server restart without making a person wait long. */
export const DEFAULT_RETRY: RetryPolicy = {
  retries: 4,
  firstDelayMs: 100,
  longestDelayMs: 2_000,
  deadlineMs: 30_000,
};

/** A retryable response, with the delay that the server requests. */
export class RetryableAnswer extends Error {
  readonly answer: Error;
  readonly afterMs: number;
  /** Refused before anything was done, so any call may be repeated. */
  readonly undone: boolean;
  constructor(answer: Error, { afterMs, undone }: { readonly afterMs: number; readonly undone: boolean }) {
    super(answer.message);
    this.answer = answer;
    this.afterMs = afterMs;
    this.undone = undone;
  }
}

export async function withRetries<T>(
  call: () => Promise<T>,
  options: { readonly policy: RetryPolicy; readonly repeatable: boolean; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const { policy, repeatable, signal } = options;
  const startedAt = Date.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const outcome = error instanceof RetryableAnswer ? error.answer : error;
      if (tries >= policy.retries || !mayRepeat(error, repeatable)) throw outcome;
      const requestedMs = error instanceof RetryableAnswer ? error.afterMs : 0;
      const delayMs = Math.max(requestedMs, backoffMs(policy, tries, Math.random()));
      if (Date.now() - startedAt + delayMs > policy.deadlineMs) throw outcome;
      await sleep(delayMs, signal);
    }
  }
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (error instanceof RetryableAnswer) return repeatable || error.undone;
  if (!(error instanceof TransportError)) return false;
  if (error.kind === "unreachable") return true;
  return error.kind === "broken" && repeatable;
}

/** Returns between half and all of the doubled delay. */
export function backoffMs(policy: RetryPolicy, tries: number, chance: number): number {
  const whole = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** tries);
  return Math.round(whole / 2 + (whole / 2) * chance);
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(new TransportError("aborted", "The call was aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener("abort", aborted, { once: true });
  });
}
