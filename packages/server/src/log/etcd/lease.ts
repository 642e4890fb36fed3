// Keeps a lease alive and considers it over before etcd can: its end is computed by the monotonic clock from the
// moment the last answered renewal was SENT, less a margin. etcd counts from a later moment. A suspended process
// notices as soon as it runs again.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";

/** Margin as a share of its lifetime, for clock drift and late timers. */
const MARGIN = 0.1;
/** Renewals per lifetime: several may fail before it ends. */
const RENEWALS = 4;
const RETRY_MS = 50;
/** A lease that could not be revoked expires. */
const REVOKE_TRIES = 3;

export interface KeptLease {
  readonly id: bigint;
  /** Aborts when the lease is no longer certain. */
  readonly over: AbortSignal;
  /** Returns whether the lease is certain at this moment. */
  holds(): boolean;
  /** Ends it, here at once and in etcd as soon as etcd answers. */
  end(): Promise<void>;
}

export async function keepLease(client: EtcdClient, seconds: number): Promise<KeptLease> {
  const askedAt = performance.now();
  const { id, ttlSeconds } = await client.leaseGrant(seconds);
  const over = new AbortController();
  let endsAt = endOf(askedAt, ttlSeconds);
  let timer: NodeJS.Timeout | null = null;

  const finish = (): void => {
    if (timer !== null) clearTimeout(timer);
    over.abort();
  };
  const holds = (): boolean => {
    if (over.signal.aborted) return false;
    if (performance.now() < endsAt) return true;
    finish();
    return false;
  };
  const arm = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => void (holds() && arm()), Math.max(1, endsAt - performance.now()));
  };

  /** A late answer is as good as an early one: it counts from when the renewal was sent. */
  const ask = async (patienceMs: number, slowMs: number): Promise<"renewed" | "failed"> => {
    const sentAt = performance.now();
    try {
      const left = await client.leaseKeepAlive(id, patienceMs, slowMs);
      if (left <= 0) finish();
      endsAt = Math.max(endsAt, endOf(sentAt, left));
      arm();
      return "renewed";
    } catch {
      return "failed";
    }
  };
  /** The next renewal does not wait for the last answer: on a busy machine both may be slow. */
  const renew = async (): Promise<void> => {
    const everyMs = (ttlSeconds * 1000) / RENEWALS;
    const pause = (ms: number) => sleep(Math.max(0, ms), undefined, { signal: over.signal });
    await pause(everyMs);
    while (holds()) {
      const sentAt = performance.now();
      const asking = ask(Math.max(everyMs, endsAt - sentAt), everyMs);
      const result = await Promise.race([asking, pause(everyMs).then(() => "slow" as const)]);
      await pause(result === "renewed" ? sentAt + everyMs - performance.now() : RETRY_MS);
    }
  };

  const revoke = async (): Promise<void> => {
    for (let n = 0; n < REVOKE_TRIES; n += 1) {
      try {
        await client.leaseRevoke(id);
        return;
      } catch (cause) {
        if (cause instanceof EtcdError && cause.kind === "not_found") return;
      }
    }
  };

  let ended: Promise<void> | null = null;
  arm();
  // It ends by an aborted sleep, which is no news.
  void renew().catch(() => undefined);
  return {
    id,
    over: over.signal,
    holds,
    end() {
      finish();
      ended ??= revoke();
      return ended;
    },
  };
}

const endOf = (from: number, seconds: number): number => from + seconds * 1000 * (1 - MARGIN);
