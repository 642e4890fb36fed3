// Decides which webhook deliveries to send now and which to abandon. Attempts are counted in the leader's memory only: a
// new leader sends every waiting delivery at once, and a repeated delivery has the same key. Pure.

import { between, type Delivery, type Duration, duration, type Instant, instant, type View } from "@lattice/core";

export interface Tries {
  readonly count: number;
  /** Earliest time of the next attempt. */
  readonly next: Instant;
  readonly since: Instant;
}

interface WebhookInputs {
  /** Monotonic, as all instants here. */
  readonly now: Instant;
  readonly tries: ReadonlyMap<string, Tries>;
  readonly giveUpAfter: Duration;
  /** Random number from 0 to 1, to spread the retries. */
  readonly chance: () => number;
}

interface WebhookVerdict {
  readonly send: readonly Delivery[];
  readonly giveUp: readonly Delivery[];
}

/** Concurrent requests to all receivers together. */
export const MAX_CONCURRENT = 16;
const MIN_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 300_000;

export function decideWebhooks(view: View, { now, tries, giveUpAfter }: WebhookInputs): WebhookVerdict {
  const send: Delivery[] = [];
  const giveUp: Delivery[] = [];
  for (const delivery of view.deliveries()) {
    const before = tries.get(delivery.key);
    if (before !== undefined && between(before.since, now) >= giveUpAfter) giveUp.push(delivery);
    else if (send.length < MAX_CONCURRENT && (before === undefined || now >= before.next)) send.push(delivery);
  }
  return { send, giveUp };
}

/** Returns the next attempt after a failure: exponential backoff with jitter. */
export function nextTry(before: Tries | undefined, { now, chance }: Pick<WebhookInputs, "now" | "chance">): Tries {
  const count = (before?.count ?? 0) + 1;
  const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (count - 1));
  const next = instant(now + Math.floor(backoffMs * (0.5 + chance() / 2)));
  return { count, next, since: before?.since ?? now };
}

export const GIVE_UP_AFTER = duration(24 * 3_600_000);
