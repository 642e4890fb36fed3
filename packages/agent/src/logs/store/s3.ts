// Output kept in an object store that speaks S3. A try that fails is the caller's to repeat.

import { S3mini } from "s3mini";
import type { LogStore } from "./log-store.ts";

export interface S3Place {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

export interface S3Options {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const TIMEOUT_MS = 30_000;

/** `s3://bucket/prefix`; null: not that. */
export function parseS3(text: string): S3Place | null {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match === null) return null;
  const prefix = (match[2] ?? "").replaceAll(/^\/+|\/+$/g, "");
  return prefix.split("/").includes("..") ? null : { bucket: match[1] ?? "", prefix };
}

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
