// Whether the leader captures a trace for rm-replay, and where to.

import { isAbsolute, join, normalize, resolve } from "node:path";
import { parseS3 } from "@lattice/wire";
import { z } from "zod";

export interface TraceConfig {
  readonly on: boolean;
  /** An absolute path, or s3://bucket/prefix. */
  readonly path: string;
  /** Of traces that have no other place, and of those on their way to an object store. Absolute. */
  readonly dir: string;
}

export const tracePath = z
  .string()
  .min(1)
  .refine((text) => !text.startsWith("s3:") || parseS3(text) !== null, {
    error: "is not a place in an object store; write s3://bucket/prefix",
  })
  .refine((text) => !normalize(text).startsWith(".."), { error: "leads out of the data folder" });

interface ParsedTrace {
  readonly trace_capture: boolean | string;
  readonly trace_path?: string | undefined;
}

export function completeTrace(
  { trace_capture: capture, trace_path: place }: ParsedTrace,
  dataDir: string,
): TraceConfig {
  const dir = join(dataDir, "traces");
  const named = typeof capture === "string" ? resolve(capture) : placeOf(place ?? "trace.jsonl", dir);
  return { on: capture !== false, path: named, dir };
}

export const placeOf = (place: string, dir: string): string =>
  isAbsolute(place) || place.startsWith("s3:") ? place : join(dir, place);
