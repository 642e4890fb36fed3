// Becomes the leader: one key, bound to a lease, that only one candidate can create. The same transaction raises the
// term, so a term has one leader. Every append is compared with the key's create revision. A candidate waits until
// the watch reports that the key is gone, and polls in case the watch is late. It holds its lease by then, so a
// resigning leader is followed one write later. While another server is preferred, for a few seconds, it waits; the
// preferred one removes the preference with its claim.

import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { type KeyValue, KeyValueSchema, type TxnResponse } from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { Notifier } from "../contract/notifier.ts";
import { absent, get, holds, put, remove } from "./append.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { Keys } from "./keys.ts";
import { type KeptLease, keepLease } from "./lease.ts";
import { headOf, type LogMetadata, leaderValue } from "./metadata.ts";
import { revokeDeadLeaders, type WaitUntilDead } from "./revoke-dead-leader.ts";
import type { StoreGuard } from "./store-guard.ts";

const CLAIM_TIMEOUT_MS = 2_000;
const POLL_INTERVAL_MS = 1_000;
const RETRY_MS = 50;

interface CampaignOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly metadata: LogMetadata;
  readonly guard: StoreGuard;
  readonly candidate: string;
  /** Name of the handle that campaigns. */
  readonly server: string;
  readonly leaseSeconds: number;
  /** Reports that a candidate is surely gone; `null`: a dead leader leads until its lease ends. */
  readonly untilGone: WaitUntilDead | null;
  readonly signal: AbortSignal;
}

export interface ElectionResult {
  readonly term: number;
  readonly createRevision: bigint;
  readonly lease: KeptLease;
  /** The last entry at the time of the claim. */
  readonly lastIndex: number;
}

/** Rejects with the signal's reason when aborted, and leaves no lease behind. */
export async function campaign(options: CampaignOptions): Promise<ElectionResult> {
  const { client, metadata, candidate, untilGone, signal } = options;
  const held: { lease: KeptLease | null } = { lease: null };
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  if (untilGone !== null) void revokeDeadLeaders({ client, metadata, candidate, untilGone, signal: ended });
  try {
    for (;;) {
      signal.throwIfAborted();
      try {
        if (held.lease?.holds() !== true) held.lease = await keepLease(client, options.leaseSeconds);
        const known = metadata.leader() === null ? vacancyKnown(metadata) : null;
        const won = known === null ? null : await claim(options, held.lease, known);
        if (won !== null) return won;
        const seen = await readElection(options);
        const ours = wonBefore(seen.leader, held.lease);
        if (ours !== null) return accept(options, ours, seen);
        if (seen.leader === undefined && mayClaim(seen, options.server)) {
          const late = await claim(options, held.lease, vacancyOf(seen));
          if (late !== null) return late;
        }
      } catch (cause) {
        signal.throwIfAborted();
        if (!(cause instanceof EtcdError)) throw cause;
        await sleep(RETRY_MS);
      }
      await untilVacant(options);
    }
  } catch (cause) {
    void held.lease?.end();
    throw cause;
  } finally {
    over.abort();
  }
}

interface Seen {
  readonly leader: KeyValue | undefined;
  readonly term: KeyValue | undefined;
  readonly favoured: KeyValue | undefined;
  readonly answer: TxnResponse;
  /** The end of the log as it was known before. */
  readonly known: number;
}

async function readElection({ client, keys, metadata: local }: CampaignOptions): Promise<Seen> {
  const known = local.lastIndex();
  const metadata = [get(keys.leader), get(keys.term), get(keys.head), get(keys.favoured)];
  const answer = await client.txn({ success: metadata }, CLAIM_TIMEOUT_MS);
  return { leader: valueAt(answer, 0), term: valueAt(answer, 1), favoured: valueAt(answer, 3), answer, known };
}

const mayClaim = ({ favoured }: Seen, server: string): boolean =>
  favoured === undefined || Buffer.from(favoured.value).toString("utf8") === server;

/** Preconditions of the claim; it fails when any of them has changed. */
interface Vacancy {
  /** As stored; `null` when there was none. */
  readonly term: Buffer | null;
  readonly favoured: boolean;
}

/** From the watch: perhaps late, and without the preferred server. */
const vacancyKnown = (metadata: LogMetadata): Vacancy => ({
  term: metadata.term() === 0 ? null : Buffer.from(String(metadata.term())),
  favoured: false,
});

const vacancyOf = ({ term, favoured }: Seen): Vacancy => ({
  term: term === undefined ? null : Buffer.from(term.value),
  favoured: favoured !== undefined,
});

/** A claim whose answer was lost may have been granted. */
function wonBefore(leader: KeyValue | undefined, lease: KeptLease | null): Claimed | null {
  if (leader === undefined || lease === null || leader.lease !== lease.id || !lease.holds()) return null;
  const { term } = JSON.parse(Buffer.from(leader.value).toString("utf8")) as { readonly term: number };
  return { term, createRevision: leader.createRevision, lease };
}

type Claimed = Omit<ElectionResult, "lastIndex">;

async function claim(options: CampaignOptions, lease: KeptLease, seen: Vacancy): Promise<ElectionResult | null> {
  const { client, keys, candidate, server, metadata } = options;
  const known = metadata.lastIndex();
  const term = (seen.term === null ? 0 : Number(seen.term.toString("utf8"))) + 1;
  const answer = await client.txn(
    {
      compare: [
        absent(keys.leader),
        seen.term === null ? absent(keys.term) : holds(keys.term, seen.term),
        // No other server has been preferred since the read.
        seen.favoured ? holds(keys.favoured, Buffer.from(server)) : absent(keys.favoured),
      ],
      success: [
        put(keys.leader, leaderValue({ candidate, server, term }), lease.id),
        put(keys.term, Buffer.from(String(term))),
        get(keys.head),
        remove({ key: keys.favoured }),
      ],
    },
    CLAIM_TIMEOUT_MS,
  );
  if (!answer.succeeded || !lease.holds()) return null;
  return accept(options, { term, createRevision: answer.header?.revision ?? 0n, lease }, { answer, known });
}

/**
 * The metadata must show the leader and the end of the log before the claim is announced. Throws when the log is shorter
 * than it was.
 */
function accept(
  { metadata, guard, keys, candidate, server }: CampaignOptions,
  won: Claimed,
  { answer, known }: Pick<Seen, "answer" | "known">,
): ElectionResult {
  const head = valueAt(answer, 2);
  guard.endsAt(headOf(head), known);
  if (head !== undefined) metadata.put(head);
  metadata.put(
    create(KeyValueSchema, {
      key: keys.leader,
      value: leaderValue({ candidate, server, term: won.term }),
      createRevision: won.createRevision,
      modRevision: won.createRevision,
      lease: won.lease.id,
    }),
  );
  return { ...won, lastIndex: metadata.lastIndex() };
}

async function untilVacant({ metadata, signal }: CampaignOptions): Promise<void> {
  const until = performance.now() + POLL_INTERVAL_MS;
  // A read may be newer than the metadata: do not poll in a tight loop.
  await waitWithin(metadata.changes, RETRY_MS, signal);
  while (metadata.leader() !== null && !signal.aborted) {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return;
    await waitWithin(metadata.changes, leftMs, signal);
  }
}

function valueAt(answer: TxnResponse, n: number): KeyValue | undefined {
  const response = answer.responses[n]?.response;
  return response?.case === "responseRange" ? response.value.kvs[0] : undefined;
}

/** Leaves no listener on the signal, which may live as long as the process. */
async function waitWithin(changes: Notifier, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
  try {
    await changes.wait(stop.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
