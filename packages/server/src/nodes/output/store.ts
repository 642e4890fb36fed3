// The store of output, as a server reads it: objects by key, read-only.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseS3 } from "@lattice/wire";
import { S3mini } from "s3mini";
import type { S3Options } from "../../base/config/index.ts";

export interface OutputObjects {
  /** Returns `null` when the object does not exist. */
  get(key: string): Promise<Buffer | null>;
}

const TIMEOUT_MS = 30_000;

/** The configuration has been checked: an object store has credentials. */
export function openOutputObjects(place: string, options: S3Options | null): OutputObjects {
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

const folder = (dir: string): OutputObjects => ({
  get: (key) =>
    readFile(join(dir, key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    }),
});
