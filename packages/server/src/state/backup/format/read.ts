// Reads a backup on the local disk, part by part, in one pass and without buffering it. Each part is compared with
// the metadata at its end.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { asBackupError, BackupError } from "./backup-error.ts";
import {
  AUDIT_FOLDER,
  type BackupMetadata,
  type BackupPart,
  HISTORY_FOLDER,
  MAX_METADATA_BYTES,
  METADATA_PART,
  parseMetadata,
  SNAPSHOT_PART,
} from "./format.ts";
import { readTar, type TarEntry } from "./tar.ts";

interface PartReader {
  snapshot(content: AsyncIterable<Buffer>, metadata: BackupMetadata): Promise<void>;
  /** Receives a segment of the history, by its file name. */
  segment(name: string, content: AsyncIterable<Buffer>, metadata: BackupMetadata): Promise<void>;
  /** Receives a file of the audit archive, by its name. */
  audit(name: string, content: AsyncIterable<Buffer>, metadata: BackupMetadata): Promise<void>;
}

/** Throws a BackupError when a part is missing, unexpected or different from the metadata. */
export async function readBackup(path: string, reader: PartReader): Promise<BackupMetadata> {
  let metadata: BackupMetadata | null = null;
  let expected: readonly BackupPart[] = [];
  for await (const entry of entriesOf(path)) {
    if (metadata === null) {
      metadata = await readMetadata(entry);
      expected = metadata.parts;
      continue;
    }
    const part = expected[0];
    expected = expected.slice(1);
    await readPart(entry, part, metadata, reader);
  }
  if (metadata === null) throw new BackupError("not_a_backup", "there is nothing in it");
  if (expected.length > 0) throw new BackupError("damaged", `${expected[0]?.name} is missing`);
  return metadata;
}

/** Reads the start of the file only. */
export async function readBackupMetadata(source: AsyncIterable<Uint8Array>): Promise<BackupMetadata> {
  for await (const entry of readTar(gunzip(source))) return await readMetadata(entry);
  throw new BackupError("not_a_backup", "there is nothing in it");
}

const entriesOf = (path: string): AsyncGenerator<TarEntry, void, undefined> => readTar(gunzip(createReadStream(path)));

async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // Ending early ends the source as well; its error is expected.
    yield* pipeline(source, createGunzip(), () => undefined);
  } catch (cause) {
    throw asReadError(cause);
  }
}

async function readMetadata(entry: TarEntry): Promise<BackupMetadata> {
  if (entry.name !== METADATA_PART || entry.bytes > MAX_METADATA_BYTES) {
    throw new BackupError("not_a_backup", `it does not begin with ${METADATA_PART}`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content) chunks.push(Buffer.from(chunk));
  return parseMetadata(Buffer.concat(chunks).toString("utf8"));
}

async function readPart(
  entry: TarEntry,
  part: BackupPart | undefined,
  metadata: BackupMetadata,
  reader: PartReader,
): Promise<void> {
  if (part?.name !== entry.name)
    throw new BackupError("damaged", `${entry.name} where ${part?.name ?? "the end"} is expected`);
  const hash = createHash("sha256");
  let bytes = 0;
  const content = async function* (): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of entry.content) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const problem = await use(content(), part.name, metadata, reader);
  for await (const _ of content());
  if (bytes !== part.bytes) throw new BackupError("damaged", `${part.name} has ${bytes} bytes, not ${part.bytes}`);
  if (hash.digest("hex") !== part.sha256) throw new BackupError("torn", `${part.name} does not match its checksum`);
  if (problem !== null) throw problem.cause;
}

/** The reader's error; a part that differs from the written one explains it better. */
async function use(
  content: AsyncIterable<Buffer>,
  name: string,
  metadata: BackupMetadata,
  reader: PartReader,
): Promise<{ readonly cause: unknown } | null> {
  try {
    if (name === SNAPSHOT_PART) await reader.snapshot(content, metadata);
    else if (name.startsWith(HISTORY_FOLDER)) {
      await reader.segment(name.slice(HISTORY_FOLDER.length), content, metadata);
    } else if (name.startsWith(AUDIT_FOLDER)) {
      await reader.audit(name.slice(AUDIT_FOLDER.length), content, metadata);
    }
    return null;
  } catch (cause) {
    return { cause };
  }
}

const NOT_GZIP = new Set(["Z_DATA_ERROR", "Z_BUF_ERROR"]);

function asReadError(cause: unknown): BackupError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (!NOT_GZIP.has(code)) return asBackupError(cause, "reading it");
  const words = cause instanceof Error ? cause.message : "";
  if (words === "incorrect header check") return new BackupError("not_a_backup", "it is not a gzip file", { cause });
  return new BackupError("torn", `it cannot be unpacked: ${words}`, { cause });
}
