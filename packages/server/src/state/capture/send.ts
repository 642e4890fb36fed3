// Uploads finished pieces of a trace to an object store, compressed and one after the other, and deletes them here. A
// piece that could not be sent is retried with the next one, or after a restart.

import { createReadStream, createWriteStream, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { S3Place } from "@lattice/wire";
import type { Logger } from "pino";
import type { S3Options } from "../../base/config/index.ts";
import { formatS3, putFile } from "../backup/stores/s3.ts";

interface SenderOptions {
  readonly place: S3Place;
  readonly s3: S3Options;
  /** Directory of waiting pieces. */
  readonly dir: string;
  readonly logger: Logger;
}

export interface Sender {
  /** The file is complete. */
  take(path: string): void;
  /** Waits a while for the upload in progress. */
  close(): Promise<void>;
}

/** A stopping server does not wait longer for an unavailable store. */
const LAST_MS = 5_000;

export function createSender({ place, s3, dir, logger }: SenderOptions): Sender {
  const waiting = new Set(leftIn(dir));
  const ending = new AbortController();
  let work: Promise<void> = Promise.resolve();
  const sendAll = async (): Promise<void> => {
    for (const path of waiting) {
      try {
        await send(path, ending.signal);
        waiting.delete(path);
      } catch (error) {
        logger.warn({ err: error, path, waiting: waiting.size }, "trace not sent; keeping it for a retry");
        return;
      }
    }
  };
  const send = async (path: string, signal: AbortSignal): Promise<void> => {
    const packed = `${path}.gz`;
    await pipeline(createReadStream(path), createGzip(), createWriteStream(packed, { mode: 0o600 }), { signal });
    await putFile(place, s3, { path: packed, bytes: statSync(packed).size, name: basename(packed) }, signal);
    await rm(packed, { force: true });
    await rm(path, { force: true });
    logger.info({ trace: `${formatS3(place)}/${basename(packed)}` }, "trace sent");
  };
  return {
    take(path) {
      waiting.add(path);
      work = work.then(sendAll);
    },
    async close() {
      const timer = setTimeout(() => ending.abort(new Error("the server stops")), LAST_MS);
      await work;
      clearTimeout(timer);
    },
  };
}

/** Pieces from before a restart. */
function leftIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(".jsonl"))
      .sort()
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}
