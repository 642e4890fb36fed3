// Ends the lease of a leader that is surely gone, so that nobody has to wait until it runs out. Whoever
// knows the leader by its name says when that is; this only acts on it. A mistake costs an
// election and nothing else: appends are fenced by the election's key, which goes with the lease.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { Facts, LeaderFact } from "./facts.ts";

/** While etcd has no leader of its own, nothing can be revoked: it is asked again. */
const RETRY_MS = 100;

/** Resolves when the server that campaigned under this name is gone; rejects or never ends otherwise. */
export type UntilGone = (candidate: string, signal: AbortSignal) => Promise<void>;

export interface HastenOptions {
  readonly client: Pick<EtcdClient, "leaseRevoke">;
  readonly facts: Pick<Facts, "bell" | "leader">;
  readonly untilGone: UntilGone;
  /** Under which this server campaigns: its own lease is not for it to end here. */
  readonly candidate: string;
  readonly signal: AbortSignal;
}

/** Goes on, from leader to leader, until aborted. Never rejects. */
export async function hasten(options: HastenOptions): Promise<void> {
  const { facts, candidate, signal } = options;
  while (!signal.aborted) {
    const leader = facts.leader();
    if (leader !== null && leader.candidate !== candidate) await outlive(options, leader);
    if (!signal.aborted && isSame(facts.leader(), leader)) await facts.bell.wait(signal);
  }
}

/** Resolves when this leader is no longer the one that is known, by our doing or not. */
async function outlive({ client, facts, untilGone, signal }: HastenOptions, leader: LeaderFact): Promise<void> {
  const replaced = new AbortController();
  const stop = AbortSignal.any([signal, replaced.signal]);
  const watching = (async () => {
    while (!stop.aborted && isSame(facts.leader(), leader)) await facts.bell.wait(stop);
    replaced.abort();
  })();
  const gone = await untilGone(leader.candidate, stop).then(
    () => !stop.aborted,
    () => false,
  );
  while (gone && !stop.aborted) {
    const done = await client.leaseRevoke(leader.lease).then(
      () => true,
      (cause: unknown) => cause instanceof EtcdError && cause.kind === "not_found",
    );
    if (done) break;
    await sleep(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  await watching;
}

const isSame = (a: LeaderFact | null, b: LeaderFact | null): boolean => a?.createRevision === b?.createRevision;
