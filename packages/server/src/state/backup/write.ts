// Writes the file of a backup from a replica, its history and its audit archive into a directory; the caller moves it
// to its store. The snapshot is written to disk first, because its size and hash precede it in the file; nothing is
// buffered in memory, and the event loop runs between any two pieces.

import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { AuditRecord, ClusterIdentity } from "@lattice/core";
import type { AuditArchive } from "../audit/archive.ts";
import type { History, SegmentInfo } from "../history/index.ts";
import type { ChainHead, Replica } from "../replica/replica.ts";
import { type AuditPart, auditPart } from "./audit.ts";
import { BackupError } from "./format/backup-error.ts";
import {
  BACKUP_FORMAT,
  type BackupMetadata,
  type BackupPart,
  HISTORY_FOLDER,
  METADATA_PART,
  SNAPSHOT_PART,
} from "./format/format.ts";
import type { WrittenBackup } from "./format/store.ts";
import { type TarFile, writeTar } from "./format/tar.ts";

/** Bytes per write: one turn of the event loop each. */
const SLICE_LENGTH = 128 * 1024;

export interface BackupInputs {
  readonly replica: Pick<Replica, "snapshot">;
  readonly history: Pick<History, "flush" | "segments" | "through">;
  readonly audit: Pick<AuditArchive, "flush" | "files" | "floor" | "gap">;
  readonly serverVersion: string;
  readonly members: readonly { readonly id: string; readonly address: string }[];
  readonly nowMs: number;
}

/** `name` is the file's name in `dir`; it is durable when this resolves. */
export async function writeBackup(
  { dir, name }: { readonly dir: string; readonly name: string },
  inputs: BackupInputs,
  signal: AbortSignal,
): Promise<WrittenBackup> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, name);
  const spool = `${path}.snapshot`;
  try {
    const { at, lines } = inputs.replica.snapshot();
    const snapshot = await spoolSnapshot(spool, lines, signal);
    // After the snapshot: every record that had left the state by then is in these segments.
    await inputs.history.flush().catch((cause: unknown) => {
      throw unflushed("the history of this server", cause);
    });
    const through = inputs.history.through();
    const segments = await inputs.history.segments();
    const audit = await auditPart(inputs.audit, snapshot.oldestAudit).catch((cause: unknown) => {
      throw unflushed("the audit archive of this server", cause);
    });
    const metadata = await describe({ at, snapshot, segments, through, audit }, inputs, signal);
    const written = await pack(
      path,
      filesOf(metadata, spool, [...inHistory(segments), ...audit.files]),
      inputs.nowMs,
      signal,
    );
    return { path, metadata, ...written };
  } catch (cause) {
    await rm(path, { force: true });
    throw cause;
  } finally {
    await rm(spool, { force: true });
  }
}

/** A backup needs everything on this server's own disk first; the error must not blame the destination. */
function unflushed(part: string, cause: unknown): BackupError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new BackupError("unavailable", `${part} cannot be written, in its data folder: ${words}`, { cause });
}

interface Spooled extends BackupPart {
  readonly stateHash: string;
  readonly records: ReadonlyMap<string, number>;
  /** Returns the number of the oldest audit record in the state; 1 when it has all of them. */
  readonly oldestAudit: number;
  /** The id of the cluster; `null` before it has one. */
  readonly cluster: string | null;
}

async function spoolSnapshot(path: string, lines: Iterable<string>, signal: AbortSignal): Promise<Spooled> {
  const hash = createHash("sha256");
  const records = new Map<string, number>();
  let stateHash = "";
  let oldestAudit = 1;
  let cluster: string | null = null;
  let bytes = 0;
  let count = 0;
  let text = "";
  const file = await open(path, "w", 0o600);
  try {
    const put = async (): Promise<void> => {
      signal.throwIfAborted();
      const chunk = Buffer.from(text);
      text = "";
      hash.update(chunk);
      bytes += chunk.length;
      await file.writeFile(chunk);
    };
    for (const line of lines) {
      // The head of the chain, then the header of the state, then its records by table.
      if (count === 1) stateHash = String((JSON.parse(line) as { readonly stateHash?: unknown }).stateHash);
      if (count > 1 && !line.startsWith("{")) {
        const table = line.slice(0, line.indexOf(" "));
        if (table === "identity") cluster = clusterOf(line);
        if (table === "audit" && !records.has(table)) oldestAudit = numberOf(line);
        records.set(table, (records.get(table) ?? 0) + 1);
      }
      count += 1;
      text += `${line}\n`;
      if (text.length >= SLICE_LENGTH) await put();
    }
    await put();
  } finally {
    await file.close();
  }
  return { name: SNAPSHOT_PART, bytes, sha256: hash.digest("hex"), stateHash, records, oldestAudit, cluster };
}

const clusterOf = (line: string): string => (JSON.parse(line.slice("identity ".length)) as ClusterIdentity).id;

/** The records are in order, so the first is the oldest. */
const numberOf = (line: string): number => (JSON.parse(line.slice("audit ".length)) as AuditRecord).n;

interface Contents {
  readonly at: ChainHead;
  readonly snapshot: Spooled;
  readonly segments: readonly SegmentInfo[];
  /** The history has no gap up to here. */
  readonly through: number;
  readonly audit: AuditPart;
}

/** A file whose start goes into the backup: it may grow meanwhile, but existing bytes do not change. */
interface Beginning {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

const inHistory = (segments: readonly SegmentInfo[]): readonly Beginning[] =>
  segments.map(({ name, path, bytes }) => ({ name: `${HISTORY_FOLDER}${name}`, path, bytes }));

async function describe(
  { at, snapshot, segments, through, audit }: Contents,
  inputs: BackupInputs,
  signal: AbortSignal,
): Promise<BackupMetadata> {
  const parts: BackupPart[] = [{ name: snapshot.name, bytes: snapshot.bytes, sha256: snapshot.sha256 }];
  for (const file of [...inHistory(segments), ...audit.files]) {
    const hash = createHash("sha256");
    for await (const chunk of contentOf(file, signal)) hash.update(chunk);
    parts.push({ name: file.name, bytes: file.bytes, sha256: hash.digest("hex") });
  }
  const count = (table: string): number => snapshot.records.get(table) ?? 0;
  return {
    format: BACKUP_FORMAT,
    created_at: new Date(inputs.nowMs).toISOString(),
    server_version: inputs.serverVersion,
    cluster: snapshot.cluster,
    log_index: at.index,
    term: at.term,
    chain_hash: at.hash,
    state_hash: snapshot.stateHash,
    counts: {
      allocations: count("allocations"),
      nodes: count("nodes"),
      tenants: count("tenants"),
      vclusters: count("vclusters"),
      history_records: segments.reduce((sum, segment) => sum + segment.records, 0),
    },
    history_through: Math.min(through, at.index),
    audit: audit.metadata,
    members: inputs.members.map(({ id, address }) => ({ id, address })),
    parts,
  };
}

const contentOf = ({ path, bytes }: Beginning, signal: AbortSignal): AsyncIterable<Buffer> =>
  bytes === 0 ? Readable.from([]) : createReadStream(path, { start: 0, end: bytes - 1, signal });

function* filesOf(metadata: BackupMetadata, spool: string, beginnings: readonly Beginning[]): Generator<TarFile> {
  const text = Buffer.from(`${JSON.stringify(metadata, null, 2)}\n`);
  yield { name: METADATA_PART, bytes: text.length, content: [text] };
  yield { name: SNAPSHOT_PART, bytes: metadata.parts[0]?.bytes ?? 0, content: createReadStream(spool) };
  for (const file of beginnings) {
    yield { name: file.name, bytes: file.bytes, content: contentOf(file, AbortSignal.any([])) };
  }
}

async function pack(
  path: string,
  files: Iterable<TarFile>,
  atMs: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "w", 0o600);
  try {
    const store = async (packed: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of packed) {
        bytes += note(hash, chunk);
        await file.writeFile(chunk);
      }
    };
    await pipeline(Readable.from(writeTar(files, atMs)), createGzip(), store, { signal });
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

function note(hash: Hash, chunk: Buffer): number {
  hash.update(chunk);
  return chunk.length;
}
