// Delivers webhooks and removes a delivery once the receiver has answered 2xx. Each request carries its time, a signature
// over time and body (HMAC-SHA-256 with the hook's secret), and a key that is the same on every attempt. A crash between
// the answer and the log entry delivers it once more.

import { createHmac } from "node:crypto";
import { type Delivery, duration, type Instant } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, monotonicNow } from "../../../base/clock.ts";
import type { Config, WebhookConfig } from "../../../base/config/index.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideWebhooks, GIVE_UP_AFTER, nextTry, type Tries } from "./decide.ts";
import { type HookWire, platformWire } from "./wire.ts";

interface WebhookContext {
  readonly replica: Replica;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks: readonly WebhookConfig[];
  /** Default: the platform's HTTP client. */
  readonly webhookWire?: HookWire;
  readonly count: (hook: string, result: "delivered" | "failed" | "given_up") => void;
}

interface Leading extends Omit<WebhookContext, "hooks" | "count"> {
  readonly config: () => Config;
  readonly metrics: { readonly webhook: WebhookContext["count"] };
}

export function webhooksController(context: Leading, signal: AbortSignal): readonly Controller[] {
  const hooks = context.config().notifications.webhooks;
  if (hooks.length === 0) return [];
  const run = createWebhookSender({ ...context, hooks, count: context.metrics.webhook }, signal);
  return [{ name: "webhooks", every: duration(500), run }];
}

/** Returns one run of the controller. */
export function createWebhookSender(context: WebhookContext, signal: AbortSignal): () => Promise<void> {
  const { replica, sequencer, clock, logger } = context;
  const { webhookWire: wire = platformWire } = context;
  const tries = new Map<string, Tries>();
  return async () => {
    const inputs = { now: monotonicNow(clock), tries, giveUpAfter: GIVE_UP_AFTER, chance: wire.chance };
    const { send, giveUp } = decideWebhooks(replica.view, inputs);
    const done = giveUp.map(({ key, hook }) => {
      logger.warn({ hook, delivery: key }, "webhook delivery abandoned: the receiver was unreachable for a day");
      context.count(hook, "given_up");
      return key;
    });
    await Promise.all(
      send.map(async (delivery) => {
        const problem = await post({ ...context, wire }, delivery, signal);
        if (signal.aborted) return;
        context.count(delivery.hook, problem === null ? "delivered" : "failed");
        if (problem === null) done.push(delivery.key);
        else {
          tries.set(delivery.key, nextTry(tries.get(delivery.key), inputs));
          logger.warn({ hook: delivery.hook, delivery: delivery.key, problem }, "webhook not delivered");
        }
      }),
    );
    if (done.length === 0) return;
    await sequencer.propose({ kind: "hooks.delivered", keys: done });
    for (const key of done) tries.delete(key);
  };
}

/** Returns `null` on success, else the problem. */
async function post(
  context: Pick<WebhookContext, "hooks" | "clock"> & { readonly wire: HookWire },
  delivery: Delivery,
  signal: AbortSignal,
): Promise<string | null> {
  const hook = context.hooks.find(({ name }) => name === delivery.hook);
  if (hook === undefined) return "this server has no webhook of that name in its configuration";
  const body = JSON.stringify(bodyOf(delivery));
  const sentAt = String(Math.floor(context.clock.now() / 1000));
  try {
    const headers = {
      "content-type": "application/json",
      "user-agent": "lattice-webhook",
      "x-lattice-delivery": delivery.key,
      "x-lattice-timestamp": sentAt,
      "x-lattice-signature": signatureOf(hook.secret, sentAt, body),
    };
    const status = await context.wire.post({ url: hook.url, headers, body }, signal);
    return status >= 200 && status < 300 ? null : `the receiver answered ${status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return String(cause instanceof Error ? cause.message : cause);
  }
}

/** Covers the time as well, so that a captured request cannot be replayed later. */
export const signatureOf = (secret: string, sentAt: string, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(`${sentAt}.${body}`).digest("hex")}`;

function bodyOf({ key, at, about }: Delivery): object {
  const time = (instant: Instant | null): string | null => (instant === null ? null : new Date(instant).toISOString());
  if (about.kind === "notice") {
    const { kind, text, tenant, user, allocation, node } = about.notice;
    return { delivery: key, at: time(at), type: "notice", notice: { kind, text, tenant, user, allocation, node } };
  }
  const { id, name, tenant, user, state, reason, message, exitCode, nodes, tags } = about;
  const allocation = {
    id,
    name,
    tenant,
    user,
    state,
    reason,
    message,
    exit_code: exitCode,
    nodes,
    tags,
    submitted_at: time(about.submittedAt),
    started_at: time(about.startedAt),
    ended_at: time(about.endedAt),
  };
  return { delivery: key, at: time(at), type: `allocation.${state}`, allocation };
}
