// Which deliveries are to be tried now, and which are given up. How often one was tried is in the leader's
// memory only: a new leader tries everything that waits at once, and what a receiver has had already is
// sent again under the same key. Pure.

import { between, type Delivery, type Duration, duration, type Instant, type View } from "@lattice/core";

export interface Tries {
  readonly count: number;
  /** Not before. */
  readonly next: Instant;
  readonly since: Instant;
}

export interface WebhookInputs {
  /** On the steady clock, as all instants here. */
  readonly now: Instant;
  readonly tries: ReadonlyMap<string, Tries>;
  readonly giveUpAfter: Duration;
  /** From 0 to 1, so that receivers are not asked by all at once. */
  readonly chance: () => number;
}

export interface WebhookVerdict {
  readonly send: readonly Delivery[];
  readonly giveUp: readonly Delivery[];
}

/** Sent at one time to all receivers together. */
export const MOST_AT_ONCE = 16;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

export function decideWebhooks(view: View, { now, tries, giveUpAfter }: WebhookInputs): WebhookVerdict {
  const send: Delivery[] = [];
  const giveUp: Delivery[] = [];
  for (const delivery of view.deliveries()) {
    const before = tries.get(delivery.key);
    if (before !== undefined && between(before.since, now) >= giveUpAfter) giveUp.push(delivery);
    else if (send.length < MOST_AT_ONCE && (before === undefined || now >= before.next)) send.push(delivery);
  }
  return { send, giveUp };
}

/** After one that failed: twice as long each time, up to a bound, and never quite when others come. */
export function nextTry(before: Tries | undefined, { now, chance }: Pick<WebhookInputs, "now" | "chance">): Tries {
  const count = (before?.count ?? 0) + 1;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
  const next = (now + Math.floor(pause * (0.5 + chance() / 2))) as Instant;
  return { count, next, since: before?.since ?? now };
}

export const GIVE_UP_AFTER = duration(24 * 3_600_000);
