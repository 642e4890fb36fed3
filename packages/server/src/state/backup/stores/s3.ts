// Backups in an S3 object store. Files are uploaded in parts, each with retries, so that an unreliable connection can
// still carry a large file; an incomplete backup is not listed. A backup is copied to the local disk before it is
// read.

import { createHash } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Place } from "@lattice/wire";
import { S3mini, S3ServiceError, type UploadPart } from "s3mini";
import type { S3Options } from "../../../base/config/index.ts";
import { asBackupError, BackupError } from "../format/backup-error.ts";
import { checksumName, checksumText, parseChecksum, timeOfName } from "../format/format.ts";
import { readBackupMetadata } from "../format/read.ts";
import { type BackupStore, newestFirst, type WrittenBackup } from "../format/store.ts";

/** S3 accepts at most 10,000 parts: files up to 80 GB. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** Bytes of the start of a file, with the metadata; longer metadata needs a second request. */
const HEAD_BYTES = 64 * 1024;
const TIMEOUT_MS = 60_000;
const TRIES = 4;
const PAUSE_MS = 250;

export const formatS3 = ({ bucket, prefix }: S3Place): string =>
  prefix === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;

const bucketOf = ({ bucket }: S3Place, options: S3Options): S3mini =>
  new S3mini({
    ...options,
    endpoint: `${options.endpoint.replace(/\/+$/, "")}/${bucket}`,
    requestAbortTimeout: TIMEOUT_MS,
  });

/** Uploads one compressed file that is not a backup. */
export async function putFile(
  place: S3Place,
  options: S3Options,
  { name, ...file }: { readonly name: string; readonly path: string; readonly bytes: number },
  signal: AbortSignal,
): Promise<void> {
  const key = place.prefix === "" ? name : `${place.prefix}/${name}`;
  await upload(bucketOf(place, options), key, file, (request) =>
    tried(`writing to ${formatS3(place)}`, signal, request),
  );
}

export function s3Store(place: S3Place, options: S3Options, spoolDir: string): BackupStore {
  const s3 = bucketOf(place, options);
  const keyOf = (name: string): string => (place.prefix === "" ? name : `${place.prefix}/${name}`);
  const sourceOf = (name: string): string => `s3://${place.bucket}/${keyOf(name)}`;
  const ask = <T>(doing: string, signal: AbortSignal, request: () => Promise<T>): Promise<T> =>
    tried(`${doing} ${formatS3(place)}`, signal, request);

  const range = (name: string, from: number, to: number, signal: AbortSignal): Promise<Buffer> =>
    ask("reading from", signal, async () => {
      const response = await s3.getObjectRaw(keyOf(name), false, from, to);
      return Buffer.from(await response.arrayBuffer());
    });
  const sizeOf = (name: string, signal: AbortSignal): Promise<number> =>
    ask("looking into", signal, () => s3.getContentLength(keyOf(name)));
  const checksum = async (name: string, signal: AbortSignal): Promise<string | null> => {
    const text = await ask("reading from", signal, () => s3.getObject(keyOf(checksumName(name))));
    return text === null ? null : parseChecksum(text);
  };

  return {
    place: formatS3(place),
    spoolDir,
    checksum,
    async list(signal) {
      const prefix = place.prefix === "" ? "" : `${place.prefix}/`;
      const objects = await ask("listing", signal, () => s3.listObjects("/", prefix));
      if (objects === null) throw new BackupError("missing", `there is no bucket ${place.bucket}`);
      return objects
        .map(({ Key, Size }) => ({ name: Key.slice(prefix.length), bytes: Size }))
        .flatMap(({ name, bytes }) => {
          const createdAtMs = timeOfName(name);
          return createdAtMs === null ? [] : [{ name, source: sourceOf(name), bytes, createdAtMs }];
        })
        .sort(newestFirst);
    },
    metadata: (name, signal) => readBackupMetadata(pieces(name, HEAD_BYTES, range, sizeOf, signal)),
    has: async (name, signal) => (await ask("looking into", signal, () => s3.objectExists(keyOf(name)))) === true,
    async put(written, name, signal) {
      await upload(s3, keyOf(name), written, (request) => ask("writing to", signal, request));
      const arrived = await sizeOf(name, signal);
      if (arrived !== written.bytes) {
        throw new BackupError("unavailable", `${sourceOf(name)} has ${arrived} bytes, not ${written.bytes}`);
      }
      const beside = checksumText(written.sha256, name);
      await ask("writing to", signal, () => s3.putObject(keyOf(checksumName(name)), beside, "text/plain"));
      await rm(written.path, { force: true });
      return { name, source: sourceOf(name), bytes: arrived, createdAtMs: timeOfName(name) ?? 0 };
    },
    async fetch(name, signal) {
      await mkdir(spoolDir, { recursive: true, mode: 0o700 });
      const unique = createHash("sha256")
        .update(`${sourceOf(name)} ${performance.now()}`)
        .digest("hex")
        .slice(0, 12);
      const path = join(spoolDir, `${name}.${unique}.copy`);
      const done = (): Promise<void> => rm(path, { force: true });
      try {
        const sha256 = await checksum(name, signal);
        const file = await open(path, "w", 0o600);
        try {
          for await (const piece of pieces(name, PIECE_BYTES, range, sizeOf, signal)) await file.writeFile(piece);
        } finally {
          await file.close();
        }
        return { path, sha256, done };
      } catch (cause) {
        await done();
        throw asBackupError(cause, `copying ${sourceOf(name)}`);
      }
    },
    async remove(name, signal) {
      for (const one of [name, checksumName(name)]) {
        await ask("deleting from", signal, () => s3.deleteObject(keyOf(one)));
      }
    },
  };
}

async function* pieces(
  name: string,
  bytes: number,
  range: (name: string, from: number, to: number, signal: AbortSignal) => Promise<Buffer>,
  sizeOf: (name: string, signal: AbortSignal) => Promise<number>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const size = await sizeOf(name, signal);
  for (let at = 0; at < size; at += bytes) yield await range(name, at, Math.min(size, at + bytes), signal);
}

type Ask = <T>(request: () => Promise<T>) => Promise<T>;

type Whole = Pick<WrittenBackup, "path" | "bytes">;

async function upload(s3: S3mini, key: string, { path, bytes }: Whole, ask: Ask): Promise<void> {
  const file = await open(path, "r");
  const piece = async (n: number): Promise<Buffer> => {
    const into = Buffer.alloc(Math.min(PIECE_BYTES, bytes - n * PIECE_BYTES));
    await file.read(into, 0, into.length, n * PIECE_BYTES);
    return into;
  };
  try {
    if (bytes <= PIECE_BYTES) {
      const whole = await piece(0);
      await ask(() => s3.putObject(key, whole, "application/gzip"));
      return;
    }
    const id = await ask(() => s3.getMultipartUploadId(key, "application/gzip"));
    try {
      const parts: UploadPart[] = [];
      for (let n = 0; n * PIECE_BYTES < bytes; n += 1) {
        const data = await piece(n);
        parts.push(await ask(() => s3.uploadPart(key, id, data, n + 1)));
      }
      await ask(() => s3.completeMultipartUpload(key, id, parts));
    } catch (cause) {
      await s3.abortMultipartUpload(key, id).catch(() => undefined);
      throw cause;
    }
  } finally {
    await file.close();
  }
}

/** A refusal is final; failures of the network or the store are retried. */
async function tried<T>(doing: string, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n += 1) {
    signal.throwIfAborted();
    try {
      return await request();
    } catch (cause) {
      const status = statusOf(cause);
      if (status === 404) throw new BackupError("missing", `${doing}: it is not there`, { cause });
      if (n >= TRIES || (status !== null && status < 500 && status !== 429)) {
        throw new BackupError("unavailable", `${doing}: ${wordsOf(cause)}`, { cause });
      }
      await sleep(PAUSE_MS * 2 ** n, undefined, { signal });
    }
  }
}

function statusOf(cause: unknown): number | null {
  if (cause instanceof S3ServiceError) return cause.status;
  return cause instanceof Error && cause.cause !== undefined ? statusOf(cause.cause) : null;
}

/** The store's message is nested in the library's error. */
const wordsOf = (cause: unknown): string => {
  const below = cause instanceof Error && cause.cause instanceof Error ? `: ${cause.cause.message}` : "";
  return `${cause instanceof Error ? cause.message : String(cause)}${below}`;
};
