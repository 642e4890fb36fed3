// A log store in an S3-compatible object store. The caller repeats failed writes.

import type { S3Place } from "@lattice/wire";
import { S3mini } from "s3mini";
import type { LogStore } from "./log-store.ts";

interface S3Options {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const TIMEOUT_MS = 30_000;

export function s3Store({ bucket, prefix }: S3Place, options: S3Options): LogStore {
  const s3 = new S3mini({
    ...options,
    endpoint: `${options.endpoint.replace(/\/+$/, "")}/${bucket}`,
    requestAbortTimeout: TIMEOUT_MS,
  });
  const keyOf = (key: string): string => (prefix === "" ? key : `${prefix}/${key}`);
  return {
    place: `s3://${bucket}/${prefix}`,
    async put(key, bytes, type) {
      await s3.putObject(keyOf(key), Buffer.from(bytes), type);
    },
    async get(key) {
      const found = await s3.getObjectArrayBuffer(keyOf(key));
      return found === null ? null : Buffer.from(found);
    },
  };
}
