// Converts instants between protobuf Timestamps, RFC 3339 text with milliseconds, and the core's milliseconds.

import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** 9999-12-31T23:59:59.999Z: later instants have no RFC 3339 form. */
const MAX_MS = 253_402_300_799_999;
/** 0001-01-01T00:00:00Z. */
const MIN_MS = -62_135_596_800_000;

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

const DATE = /^\d{4}-\d\d-\d\d$/;

export function timestampFromMs(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1000) * 1e6) });
}

export const timestampToMs = (t: Timestamp): number => Number(t.seconds) * 1000 + Math.floor(t.nanos / 1e6);

export const formatTimestamp = (t: Timestamp): string => new Date(clamp(timestampToMs(t))).toISOString();

/** Parses an RFC 3339 instant, or a date as its first moment in UTC; returns `null` otherwise. */
export function parseTimestamp(text: string): Timestamp | null {
  if (!RFC3339.test(text) && !DATE.test(text)) return null;
  const ms = Date.parse(text.toUpperCase());
  return Number.isFinite(ms) && ms >= MIN_MS && ms <= MAX_MS ? timestampFromMs(ms) : null;
}

const clamp = (ms: number): number => Math.min(MAX_MS, Math.max(MIN_MS, ms));
