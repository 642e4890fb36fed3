// Carries finished pieces of a trace to an object store, compressed, one after the other, and removes them here. What could
// not be sent stays and is tried again with the next, or when the server starts anew.

import { createReadStream, createWriteStream, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { S3Place } from "@lattice/wire";
import type { Logger } from "pino";
import { formatS3, putFile, type S3Options } from "../backup/stores/s3.ts";

export interface SenderOptions {
  readonly place: S3Place;
  readonly s3: S3Options;
  /** Where pieces wait. */
  readonly dir: string;
  readonly logger: Logger;
}

export interface Sender {
  /** The file is whole. */
  take(path: string): void;
  /** Lets what is under way end, for a while. */
  close(): Promise<void>;
}

/** A server that stops does not wait longer for a store that is away. */
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
        logger.warn({ err: error, path, waiting: waiting.size }, "a trace could not be sent and is kept");
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
    logger.info({ trace: `${formatS3(place)}/${basename(packed)}` }, "a trace was sent");
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

/** From an earlier life. */
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
