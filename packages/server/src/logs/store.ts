// The store to which agents send output, as a server reads it: objects by key, nothing written.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseS3 } from "@lattice/wire";
import { S3mini } from "s3mini";
import type { S3Options } from "../backup/stores/s3.ts";

export interface LogObjects {
  /** Null: it is not there. */
  get(key: string): Promise<Buffer | null>;
}

const TIMEOUT_MS = 30_000;

/** The configuration has been checked: an object store comes with credentials. */
export function openLogObjects(place: string, options: S3Options | null): LogObjects {
  const s3 = parseS3(place);
  if (s3 === null || options === null) return folder(place);
  const { bucket, prefix } = s3;
  const endpoint = `${options.endpoint.replace(/\/+$/, "")}/${bucket}`;
  const client = new S3mini({ ...options, endpoint, requestAbortTimeout: TIMEOUT_MS });
  return {
    async get(key) {
      const found = await client.getObjectArrayBuffer(prefix === "" ? key : `${prefix}/${key}`);
      return found === null ? null : Buffer.from(found);
    },
  };
}

const folder = (dir: string): LogObjects => ({
  get: (key) =>
    readFile(join(dir, key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    }),
});
