// Restores a verified backup into a running, empty cluster through the log, so that every server gets it: first the
// snapshot in pieces, then one command that installs it, then the finished records and the audit archive. Repeating
// it after a failure continues it: pieces are sent again, and installed parts stay.

import {
  type Allocation,
  type Command,
  type LogIndex,
  MAX_PIECE_LENGTH,
  type Origin,
  type Outcome,
} from "@lattice/core";
import { decodeLine, recordOf } from "../history/line.ts";
import { auditRecords } from "./audit.ts";
import { BackupError } from "./format/backup-error.ts";
import type { BackupMetadata } from "./format/format.ts";
import { readBackup } from "./format/read.ts";
import { lineBatches } from "./lines.ts";

/** Bytes of finished records in one command. */
const HISTORY_PIECE_LENGTH = 512 * 1024;
/** Audit records in one command; about half a megabyte. */
const AUDIT_BATCH = 1_000;
/** A larger backup would fill the log; `--recover-from` has no such limit. */
const MAX_RESTORED_HISTORY_BYTES = 1024 * 1024 * 1024;

export interface RestoreTarget {
  propose(command: Command): Promise<{ readonly outcome: Outcome; readonly index: LogIndex }>;
}

export interface Restored {
  readonly index: LogIndex;
  readonly historyRecords: number;
}

/** Rejected commands become their refusals through `refused`. */
export interface RestoreOptions {
  readonly path: string;
  /** SHA-256 of the file: identifies the restore, so that it can be continued. */
  readonly restore: string;
  readonly origin: Origin;
  readonly signal: AbortSignal;
  readonly refused: (outcome: Extract<Outcome, { kind: "rejected" }>) => Error;
}

export async function restoreBackup(target: RestoreTarget, options: RestoreOptions): Promise<Restored> {
  const { path, restore, origin, signal } = options;
  const propose = async (command: Command) => {
    signal.throwIfAborted();
    const { outcome, index } = await target.propose(command);
    if (outcome.kind === "rejected") throw options.refused(outcome);
    return { repeated: outcome.repeated === true, index };
  };
  const started = await propose({ kind: "cluster.restore_begin", origin, restore });
  let index = started.index;
  let sent = 0;
  const send = batchedHistory(async (records, last) => {
    sent += records.length;
    index = (await propose({ kind: "cluster.restore_history", restore, records, last })).index;
  });
  const { audit } = await readBackup(path, {
    async snapshot(content, metadata) {
      refuseTooMuchHistory(metadata);
      if (started.repeated) return;
      let n = 0;
      for await (const text of textPieces(content)) {
        n += 1;
        await propose({ kind: "cluster.restore_text", restore, n, text });
      }
      index = (await propose({ kind: "cluster.restore_commit", restore })).index;
    },
    async segment(_name, content, metadata) {
      for await (const record of recordsOf(content, metadata)) await send.add(record);
    },
    async audit(_name, content, { audit }) {
      if (audit === undefined) return;
      const all = await auditRecords(content, audit);
      for (let at = 0; at < all.length; at += AUDIT_BATCH) {
        const records = all.slice(at, at + AUDIT_BATCH);
        await propose({ kind: "cluster.restore_audit", restore, floor: audit.floor, records });
      }
    },
  });
  // Also when no record is left: other servers must not search for expired records.
  if (audit !== undefined && audit.floor > 1) {
    await propose({ kind: "cluster.restore_audit", restore, floor: audit.floor, records: [] });
  }
  await send.end();
  return { index, historyRecords: sent };
}

function refuseTooMuchHistory({ parts }: BackupMetadata): void {
  const bytes = parts.slice(1).reduce((sum, part) => sum + part.bytes, 0);
  if (bytes <= MAX_RESTORED_HISTORY_BYTES) return;
  const most = `at most ${MAX_RESTORED_HISTORY_BYTES} go through the log`;
  throw new BackupError("unavailable", `its history has ${bytes} bytes, ${most}; start a server with --recover-from`);
}

/** The lines of the state, without the head of the old cluster's chain, in pieces that fit into an entry. */
async function* textPieces(content: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let text = "";
  let first = true;
  for await (const lines of lineBatches(content)) {
    for (const line of lines) {
      if (!first) text += `${line.toString("utf8")}\n`;
      first = false;
      for (; text.length >= MAX_PIECE_LENGTH; text = text.slice(cutAt(text))) yield text.slice(0, cutAt(text));
    }
  }
  if (text !== "") yield text;
}

/** Do not split a surrogate pair. */
function cutAt(text: string): number {
  const last = text.charCodeAt(MAX_PIECE_LENGTH - 1);
  return last >= 0xd800 && last <= 0xdbff ? MAX_PIECE_LENGTH - 1 : MAX_PIECE_LENGTH;
}

/** Finished records up to the backup's entry; later ones are still in its snapshot. */
export async function* recordsOf(
  content: AsyncIterable<Buffer>,
  metadata: BackupMetadata,
): AsyncGenerator<{ readonly index: number; readonly json: string }, void, undefined> {
  for await (const lines of lineBatches(content)) {
    for (const line of lines) {
      const head = decodeLine(line);
      if (head === null) throw new BackupError("damaged", "a record of the history does not match its checksum");
      if (head.kind === "closing") continue;
      const record = recordOf(head);
      if (record.index <= metadata.log_index) yield record;
    }
  }
}

function batchedHistory(send: (records: readonly Allocation[], last: boolean) => Promise<void>) {
  let batch: Allocation[] = [];
  let length = 0;
  return {
    async add({ json }: { readonly json: string }): Promise<void> {
      batch.push(JSON.parse(json) as Allocation);
      length += json.length;
      if (length < HISTORY_PIECE_LENGTH) return;
      const full = batch;
      batch = [];
      length = 0;
      await send(full, false);
    },
    end: () => send(batch, true),
  };
}
