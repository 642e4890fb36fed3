// Appends entries in one transaction that commits only while the author holds the election and only at the end of the
// log. Without an answer the same transaction is sent again: it cannot take effect twice, and a refusal shows what is
// stored. So the outcome is unknown only when etcd did not answer in time.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type CompareSchema,
  type RequestOpSchema,
  Compare_CompareResult as Result,
  Compare_CompareTarget as Target,
  type TxnResponse,
} from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { StoredEntry } from "../contract/replicated-log.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { Keys } from "./keys.ts";
import { frameOf, inlineRecord, PIECE_BYTES, partsRecord, piecesOf } from "./record.ts";

const ATTEMPT_MS = 2_000;
const RETRY_MS = 50;

type Compare = MessageInitShape<typeof CompareSchema>;
export type Op = MessageInitShape<typeof RequestOpSchema>;

interface Append {
  readonly client: EtcdClient;
  readonly keys: Keys;
  /** Create revision of the election key; every leadership has another. */
  readonly createRevision: bigint;
  /** The end of the log as the author knows it. */
  readonly lastIndex: number;
  readonly entries: readonly StoredEntry[];
  readonly timeoutMs: number;
}

export type AppendResult =
  | { readonly kind: "durable" }
  | { readonly kind: "lost_leadership" }
  | { readonly kind: "wrong_index"; readonly lastIndex: number }
  | { readonly kind: "unavailable" | "no_space"; readonly reason: string };

export async function appendToEtcd(append: Append): Promise<AppendResult> {
  const { client, keys, entries } = append;
  const first = append.lastIndex + 1;
  const frame = frameOf(entries);
  const until = performance.now() + append.timeoutMs;
  let record = frame.length <= PIECE_BYTES ? inlineRecord(frame) : null;
  if (record === null) {
    const id = randomBytes(8).toString("hex");
    const pieces = piecesOf(frame);
    const written = await writeParts(append, id, pieces, until);
    if (written !== null) return written;
    record = partsRecord({ first, count: entries.length, id, parts: pieces.length });
  }
  const value = record;
  const request = {
    compare: [leads(append), endsAt(keys, append.lastIndex), absent(keys.log(first))],
    success: [put(keys.log(first), value), put(keys.head, Buffer.from(String(first + entries.length - 1)))],
    failure: [get(keys.leader), get(keys.head), get(keys.log(first))],
  };
  const answer = await untilAnswered((timeoutMs) => client.txn(request, timeoutMs), until);
  if (answer.kind !== "answer") return answer;
  return answer.value.succeeded ? { kind: "durable" } : explain(answer.value, append, value);
}

/** Fenced too, so that a former leader leaves nothing behind. */
async function writeParts(
  append: Append,
  id: string,
  pieces: readonly Buffer[],
  until: number,
): Promise<AppendResult | null> {
  const { client, keys } = append;
  for (const [n, piece] of pieces.entries()) {
    const request = { compare: [leads(append)], success: [put(keys.part(append.lastIndex + 1, id, n), piece)] };
    const answer = await untilAnswered((timeoutMs) => client.txn(request, timeoutMs), until);
    // Unlisted parts are never read, so a lost answer does not matter here.
    if (answer.kind !== "answer") return answer;
    if (!answer.value.succeeded) return { kind: "lost_leadership" };
  }
  return null;
}

type Answered<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "unavailable" | "no_space"; readonly reason: string };

async function untilAnswered<T>(send: (timeoutMs: number) => Promise<T>, until: number): Promise<Answered<T>> {
  let doubtful = false;
  for (;;) {
    try {
      return { kind: "answer", value: await send(Math.min(ATTEMPT_MS, until - performance.now())) };
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      if (error.kind === "no_space" && !doubtful) return { kind: "no_space", reason: error.message };
      if (error.kind !== "unavailable" && error.kind !== "no_space") throw error;
      doubtful = true;
      if (performance.now() + RETRY_MS >= until) return { kind: "unavailable", reason: error.message };
      await sleep(RETRY_MS);
    }
  }
}

/** Refused: either an earlier try was stored, or the author may not append. */
function explain(answer: TxnResponse, { createRevision, keys }: Append, value: Buffer): AppendResult {
  const found = answer.responses.map(({ response }) =>
    response.case === "responseRange" ? response.value.kvs[0] : undefined,
  );
  const [leader, head, record] = found;
  if (record !== undefined && value.equals(record.value)) return { kind: "durable" };
  if (leader === undefined || leader.createRevision !== createRevision) return { kind: "lost_leadership" };
  const lastIndex = head === undefined ? 0 : Number(Buffer.from(head.value).toString("utf8"));
  if (!Number.isSafeInteger(lastIndex)) throw new EtcdError("refused", `${keys.head.toString()} is not a number`);
  return { kind: "wrong_index", lastIndex };
}

const leads = ({ keys, createRevision }: Append): Compare => ({
  key: keys.leader,
  target: Target.CREATE,
  result: Result.EQUAL,
  targetUnion: { case: "createRevision", value: createRevision },
});

const endsAt = (keys: Keys, lastIndex: number): Compare =>
  lastIndex === 0 ? absent(keys.head) : holds(keys.head, Buffer.from(String(lastIndex)));

export const absent = (key: Buffer): Compare => ({
  key,
  target: Target.CREATE,
  result: Result.EQUAL,
  targetUnion: { case: "createRevision", value: 0n },
});

export const holds = (key: Buffer, value: Buffer): Compare => ({
  key,
  target: Target.VALUE,
  result: Result.EQUAL,
  targetUnion: { case: "value", value },
});

export const put = (key: Buffer, value: Uint8Array, lease = 0n): Op => ({
  request: { case: "requestPut", value: { key, value, lease } },
});

export const get = (key: Buffer): Op => ({ request: { case: "requestRange", value: { key } } });

export const remove = (range: { readonly key: Buffer; readonly rangeEnd?: Buffer }): Op => ({
  request: { case: "requestDeleteRange", value: { ...range } },
});
