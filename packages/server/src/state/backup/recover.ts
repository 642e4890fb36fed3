// Starts a new cluster from a backup, before the log is opened. The backup is verified, its finished records become
// the history of this server, its audit records the archive, and last of all the snapshot is written where the log
// starts. Before that last step there is no log and everything may be repeated; an existing log is never touched.

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Allocation,
  instant,
  type KnownIdentity,
  type LogIndex,
  logIndex,
  prepareRestoredState,
  type State,
  snapshotLines,
  type Term,
  term,
} from "@lattice/core";
import type { Config } from "../../base/config/index.ts";
import type { Logger } from "../../base/observe/index.ts";
import {
  type LogConfig,
  LogError,
  refuseEmbeddedLog,
  refuseEtcdLog,
  seedEmbeddedLog,
  seedEtcdLog,
  startManagedMember,
} from "../../log/index.ts";
import { AuditArchive } from "../audit/archive.ts";
import { listBlocks, removeBlock } from "../audit/blocks.ts";
import { type HistoryRecord, openHistory } from "../history/index.ts";
import { writeProgress } from "../history/progress-file.ts";
import { sha256 as hashText } from "../replica/hash.ts";
import type { ChainHead } from "../replica/replica.ts";
import { auditRecords } from "./audit.ts";
import { BackupError } from "./format/backup-error.ts";
import type { BackupMetadata } from "./format/format.ts";
import { readBackup } from "./format/read.ts";
import { anyBackup } from "./places.ts";
import { recordsOf } from "./restore.ts";
import { readRecords, verifyBackup } from "./verify.ts";

/**
 * Terms that the lost cluster may have used after the backup: an election takes a second or more, so this covers
 * hours of continuous elections. The new cluster continues beyond them.
 */
const TERM_GAP = 10_000;
/** Finished records in one write. */
const BATCH = 1_000;
const MARK = "recovered-from.json";

interface Recovered {
  readonly metadata: BackupMetadata;
  readonly historyRecords: number;
}

interface RecoverOptions {
  readonly config: Config;
  readonly log: LogConfig;
  readonly logger: Logger;
  readonly nowMs: number;
  /** The cluster that this server belongs to. Default: none, as a new server. */
  readonly own?: KnownIdentity | null;
}

/** `source` is a path or s3://bucket/key. Throws with a message for the operator. */
export async function recoverFrom(source: string, options: RecoverOptions): Promise<Recovered> {
  const { config, log, logger } = options;
  if (log.engine === "memory") throw new Error("--recover-from needs a durable log, but quorum.engine is memory");
  const { store, name } = anyBackup(source, config.backup);
  const copy = await store.fetch(name, AbortSignal.any([]));
  try {
    const { checks, sha256, metadata } = await verifyBackup(copy.path, copy.sha256);
    refuseOtherCluster(source, metadata, options.own ?? null);
    const failed = checks.find((check) => !check.ok);
    if (failed !== undefined) {
      throw new BackupError("damaged", `${source} does not pass the check "${failed.name}": ${failed.detail}`);
    }
    const target = await openTarget(log);
    try {
      await target.refuseLog();
      const dirs = { history: join(config.server.dataDir, "history"), audit: config.audit.dir };
      const found = await unpack({ path: copy.path, sha256, nowMs: options.nowMs }, dirs, logger);
      await target.seed(found.at, found.lines());
      logRecovery(found, source, options);
      return found;
    } finally {
      await target.close();
    }
  } finally {
    await copy.done();
  }
}

function refuseOtherCluster(source: string, metadata: BackupMetadata | null, own: KnownIdentity | null): void {
  const cluster = metadata?.cluster ?? null;
  if (own === null || cluster === null || cluster === own.id) return;
  throw new BackupError(
    "not_a_backup",
    `${source} is a backup of cluster ${cluster}, but this server belongs to cluster ${own.id}: choose a backup of that cluster, or give the server an empty server.data_dir`,
  );
}

interface Target {
  /** Throws when there is a log already. */
  refuseLog(): Promise<void>;
  seed(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): Promise<unknown>;
  close(): Promise<void>;
}

async function openTarget(log: Exclude<LogConfig, { engine: "memory" }>): Promise<Target> {
  if (log.engine === "embedded") {
    return {
      refuseLog: () => refuseEmbeddedLog(log.dir),
      seed: (at, lines) => seedEmbeddedLog(log, at, lines),
      close: async () => undefined,
    };
  }
  // The managed member outlives this: the server adopts it.
  const member = log.managed === null ? null : await startManagedMember({ ...log.managed, replacesLost: true });
  const place = member === null ? log : { ...log, endpoints: [member.endpoint], tls: member.tls };
  return {
    refuseLog: () => refuseEtcdLog(place),
    seed: (at, lines) => seedEtcdLog(place, at, lines),
    close: async () => member?.release(),
  };
}

interface Unpacked extends Recovered {
  readonly at: { readonly index: LogIndex; readonly term: Term };
  lines(): Iterable<string>;
}

interface VerifiedCopy {
  readonly path: string;
  readonly sha256: string;
  readonly nowMs: number;
}

interface Dirs {
  readonly history: string;
  readonly audit: string;
}

async function unpack({ path, sha256, nowMs }: VerifiedCopy, dirs: Dirs, logger: Logger): Promise<Unpacked> {
  const found: { head: ChainHead | null; state: State | null } = { head: null, state: null };
  await refuseAudit(dirs.audit, sha256);
  const place = await beginHistory(dirs.history, sha256);
  const audit = await beginAudit(dirs.audit, sha256, logger);
  const metadata = await readBackup(path, {
    async snapshot(content) {
      const { head, restore } = await readRecords(content);
      found.head = head;
      found.state = restore.finish();
    },
    async segment(_name, content, written) {
      let batch: HistoryRecord[] = [];
      for await (const { index, json } of recordsOf(content, written)) {
        batch.push({ index: logIndex(index), record: JSON.parse(json) as Allocation });
        if (batch.length < BATCH) continue;
        await place.append(batch);
        batch = [];
      }
      await place.append(batch);
    },
    async audit(_name, content, written) {
      if (written.audit !== undefined) await audit.fill(await auditRecords(content, written.audit));
    },
  });
  const { head, state } = found;
  if (head === null || state === null) throw new BackupError("damaged", "it holds no snapshot");
  if (metadata.audit !== undefined) await audit.raiseFloor(metadata.audit.floor);
  await audit.close();
  if (metadata.audit?.whole === false) logger.warn("backup has an incomplete audit log");
  const historyRecords = await place.end(metadata.log_index);
  if (metadata.history_through < metadata.log_index) {
    const { history_through, log_index } = metadata;
    logger.warn({ history_through, log_index }, "backup has an incomplete history");
  }
  prepareRestoredState(state, instant(nowMs));
  const raised = { ...head, term: term(head.term + TERM_GAP) };
  return {
    metadata,
    historyRecords,
    at: { index: raised.index, term: raised.term },
    *lines() {
      yield JSON.stringify(raised);
      yield* snapshotLines(state, hashText);
    },
  };
}

/** Built in a temporary directory and renamed; the result of an earlier try of the same backup is replaced. */
async function beginHistory(dir: string, sha256: string) {
  const held = existsSync(dir) ? await readdir(dir) : [];
  if (!(await isMine(dir, sha256)) && held.some((name) => name.endsWith(".jsonl"))) {
    throw new LogError("wrong_index", `there is a history in ${dir} already; move it away first`);
  }
  const aside = `${dir}.recovering`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true, mode: 0o700 });
  const history = await openHistory({ dir: aside });
  let records = 0;
  return {
    async append(batch: readonly HistoryRecord[]): Promise<void> {
      records += batch.length;
      await history.append(batch);
    },
    async end(through: number): Promise<number> {
      await history.close();
      // Counts as complete: there is no other server to fetch from.
      writeProgress(aside, through);
      await writeFile(join(aside, MARK), `${JSON.stringify({ sha256 })}\n`, { mode: 0o600 });
      await rm(dir, { recursive: true, force: true });
      await rename(aside, dir);
      return records;
    },
  };
}

/** Throws when there is an archive that is not from an earlier try with the same backup. */
async function refuseAudit(dir: string, sha256: string): Promise<void> {
  const held = existsSync(dir) ? await listBlocks(dir) : [];
  if (held.length === 0 || (await isMine(dir, sha256))) return;
  throw new LogError("wrong_index", `there is an archive of the audit log in ${dir} already; move it away first`);
}

/** In place, because the signing key is there too. */
async function beginAudit(dir: string, sha256: string, logger: Logger): Promise<AuditArchive> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const block of await listBlocks(dir)) await removeBlock(dir, block);
  await writeFile(join(dir, MARK), `${JSON.stringify({ sha256 })}\n`, { mode: 0o600 });
  // The retention applies when the server opens it.
  return AuditArchive.open(dir, { retentionMs: Number.POSITIVE_INFINITY, nowMs: 0, logger });
}

async function isMine(dir: string, sha256: string): Promise<boolean> {
  const mark = await readFile(join(dir, MARK), "utf8").catch(() => "");
  return mark.trim() === JSON.stringify({ sha256 });
}

const HOUR_MS = 3_600_000;

function logRecovery({ metadata, historyRecords }: Recovered, source: string, { logger, nowMs }: RecoverOptions): void {
  const { log_index, created_at, counts } = metadata;
  const age = Math.max(0, nowMs - Date.parse(created_at));
  const ago = age < HOUR_MS ? `${Math.round(age / 60_000)} minutes` : `${(age / HOUR_MS).toFixed(1)} hours`;
  logger.info(
    { source, log_index, created_at, ...counts, history_records: historyRecords },
    `new cluster started from the backup at entry ${log_index}, ${ago} old; later changes are lost`,
  );
}
