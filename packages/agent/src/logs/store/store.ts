// Opens the configured log store: a folder or a prefix in an object store.

import { resolve } from "node:path";
import { parseS3 } from "@lattice/wire";
import { directoryStore, type StoreAccess } from "./directory.ts";
import type { LogStore } from "./log-store.ts";
import { s3Store } from "./s3.ts";

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Throws when the place or its credentials are incomplete, or when every user could read it. */
export function openLogStore(place: string, environment: ProcessEnvironment, access: StoreAccess): LogStore {
  const s3 = parseS3(place);
  if (s3 === null) {
    if (place.startsWith("s3:")) throw new Error(`"${place}" is not a place in an object store: s3://bucket/prefix`);
    return directoryStore(resolve(place), access);
  }
  const accessKeyId = environment.AWS_ACCESS_KEY_ID ?? "";
  const secretAccessKey = environment.AWS_SECRET_ACCESS_KEY ?? "";
  if (accessKeyId === "" || secretAccessKey === "")
    throw new Error(`${place} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the agent's environment`);
  const region = environment.AWS_REGION ?? "us-east-1";
  const endpoint = environment.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`;
  return s3Store(s3, { endpoint, region, accessKeyId, secretAccessKey });
}
