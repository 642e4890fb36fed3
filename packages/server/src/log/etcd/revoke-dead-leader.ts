// Revokes the lease of a leader that is surely gone, so that candidates need not wait until it expires. `untilGone`
// decides that; this file only acts on it. A mistake costs one election: appends are fenced by the election key,
// which ends with the lease.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { LeaderRecord, LogMetadata } from "./metadata.ts";

/** While etcd has no leader of its own, a revocation fails and is retried. */
const RETRY_MS = 100;

/** Resolves when the server of this candidate is gone; rejects or stays pending otherwise. */
export type WaitUntilDead = (candidate: string, signal: AbortSignal) => Promise<void>;

interface RevokeOptions {
  readonly client: Pick<EtcdClient, "leaseRevoke">;
  readonly metadata: Pick<LogMetadata, "changes" | "leader">;
  readonly untilGone: WaitUntilDead;
  /** The candidate name of this server, whose own lease is never revoked here. */
  readonly candidate: string;
  readonly signal: AbortSignal;
}

/** Runs, from leader to leader, until aborted. Never rejects. */
export async function revokeDeadLeaders(options: RevokeOptions): Promise<void> {
  const { metadata, candidate, signal } = options;
  while (!signal.aborted) {
    const leader = metadata.leader();
    if (leader !== null && leader.candidate !== candidate) await outlive(options, leader);
    if (!signal.aborted && isSame(metadata.leader(), leader)) await metadata.changes.wait(signal);
  }
}

/** Resolves when this leader has been replaced, by a revocation or otherwise. */
async function outlive({ client, metadata, untilGone, signal }: RevokeOptions, leader: LeaderRecord): Promise<void> {
  const replaced = new AbortController();
  const stop = AbortSignal.any([signal, replaced.signal]);
  const watching = (async () => {
    while (!stop.aborted && isSame(metadata.leader(), leader)) await metadata.changes.wait(stop);
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

const isSame = (a: LeaderRecord | null, b: LeaderRecord | null): boolean => a?.createRevision === b?.createRevision;
