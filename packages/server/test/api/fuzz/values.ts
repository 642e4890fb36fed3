// Values for the fields of a message, from its schema: plausible ones, ends of ranges, wrong types, unknown fields. As
// JSON for REST; as messages, which have no wrong types, for gRPC.

import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

export type Roll = (sides: number) => number;

export const pick = <T>(roll: Roll, items: readonly [T, ...T[]]): T => items[roll(items.length)] ?? items[0];

/** Seeded; the same seed gives the same requests. */
export function dice(seed: number): Roll {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

/** Ids that exist, that could exist, and that are invalid. */
export const IDS: readonly [string, ...string[]] = [
  "1",
  "2",
  "3",
  "7_3",
  "2_[0-3]",
  "2_[9-1]",
  "dag-1",
  "n1",
  "n[1-3]",
  "default",
  "art",
  "hpc-batch",
  "ada",
  "0",
  "-1",
  "00001",
  "999999999999999",
  "99999999999999999999",
  "1:0",
  "scheduling.max_dag_size",
  "log.level",
  "scheduling",
];

const TEXTS: readonly [string, ...string[]] = [
  "",
  "a",
  "true",
  "null",
  "1",
  "1.5",
  "1e309",
  "10m",
  "2026-03-01",
  "2026-03-01T00:00:00Z",
  "train",
  "x=y",
  "=",
  "../../etc/passwd",
  "/etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "a\u0000b",
  "a\nb\r\nc",
  "\u202e\ufeff",
  "\ud800",
  "ünï ço dé",
  "$HOME",
  "'; DROP TABLE x; --",
  "%00%2e%2e",
  "s3://",
  "MS4x",
  "x".repeat(300),
  "y".repeat(5_000),
];

const NUMBERS: readonly [number, ...number[]] = [
  0,
  1,
  2,
  3,
  7,
  10,
  11,
  100,
  1_000,
  65_535,
  65_536,
  2 ** 31,
  2 ** 32 - 1,
];
const WRONG_NUMBERS: readonly [unknown, ...unknown[]] = [-1, 1.5, 2 ** 32, 2 ** 53, 1e308, "7", "", true, null];

let live: readonly string[] = [];
/** Sets the existing objects; a part of all names is then one of these. */
export function nameLive(ids: readonly string[]): void {
  live = ids;
}

export function textFor(roll: Roll): string {
  if (roll(3) === 0) return pick(roll, TEXTS);
  const known = roll(2) === 0 ? live[roll(Math.max(live.length, 1))] : undefined;
  return known ?? pick(roll, IDS);
}

/** Deep enough for every message of the contract. */
const DEPTH = 4;

export function jsonFor(roll: Roll, schema: DescMessage, depth = 0): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (roll(depth === 0 ? 3 : 4) !== 0 && !/^(id|entrypoint|name|ids)$/.test(field.name)) continue;
    out[field.name] = roll(12) === 0 ? wrong(roll) : jsonField(roll, field, depth);
  }
  if (roll(15) === 0) out[pick(roll, ["nodez", "__proto__", "", "constructor", "ID"])] = textFor(roll);
  return out;
}

const wrong = (roll: Roll): unknown =>
  pick<unknown>(roll, [null, [], {}, 0, -1, "x", true, [[[]]], { a: { b: {} } }, [null], "\u0000"]);

function jsonField(roll: Roll, field: DescField, depth: number): unknown {
  if (field.fieldKind === "list") return Array.from({ length: roll(4) }, () => jsonSingle(roll, field, depth));
  if (field.fieldKind === "map") {
    return Object.fromEntries(Array.from({ length: roll(3) }, () => [textFor(roll), jsonSingle(roll, field, depth)]));
  }
  return jsonSingle(roll, field, depth);
}

function jsonSingle(roll: Roll, field: DescField, depth: number): unknown {
  if (field.message?.typeName === "google.protobuf.Timestamp") {
    return pick<unknown>(roll, ["2026-03-01T00:00:00Z", "2026-03-01", "yesterday", "9999-12-31T23:59:59.999Z", 5]);
  }
  if (field.message !== undefined) return depth >= DEPTH ? {} : jsonFor(roll, field.message, depth + 1);
  if (field.enum !== undefined) {
    return roll(5) === 0
      ? textFor(roll)
      : (field.enum.values[roll(field.enum.values.length)]?.localName ?? "").toLowerCase();
  }
  return scalarFor(roll, field.scalar);
}

function scalarFor(roll: Roll, scalar: ScalarType | undefined): unknown {
  if (scalar === ScalarType.STRING) return textFor(roll);
  if (scalar === ScalarType.BOOL) return roll(5) === 0 ? "maybe" : roll(2) === 0;
  if (scalar === ScalarType.BYTES) return pick(roll, ["aGk=", "", "!!", "aGk"]);
  return roll(5) === 0 ? pick(roll, WRONG_NUMBERS) : pick(roll, NUMBERS);
}

export function messageFor(roll: Roll, schema: DescMessage, depth = 0): Message {
  const out: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (field.oneof !== undefined) continue;
    if (roll(3) !== 0 && !/^(id|entrypoint|name|ids)$/.test(field.name)) continue;
    out[field.localName] = messageField(roll, field, depth);
  }
  return create(schema, out as never) as Message;
}

function messageField(roll: Roll, field: DescField, depth: number): unknown {
  if (field.fieldKind === "list") return Array.from({ length: roll(4) }, () => messageSingle(roll, field, depth));
  if (field.fieldKind === "map") {
    return Object.fromEntries(
      Array.from({ length: roll(3) }, () => [textFor(roll), messageSingle(roll, field, depth)]),
    );
  }
  return messageSingle(roll, field, depth);
}

function messageSingle(roll: Roll, field: DescField, depth: number): unknown {
  if (field.message?.typeName === "google.protobuf.Timestamp") {
    return {
      seconds: BigInt(pick(roll, [0, 1_700_000_000, -62_135_596_800, 253_402_300_799])),
      nanos: roll(1_000_000_000),
    };
  }
  if (field.message !== undefined)
    return depth >= DEPTH ? create(field.message) : messageFor(roll, field.message, depth + 1);
  if (field.enum !== undefined) return pick(roll, [0, 1, 2, 3, 99, -1]);
  if (field.scalar === ScalarType.STRING) return wellFormed(textFor(roll));
  if (field.scalar === ScalarType.BOOL) return roll(2) === 0;
  if (field.scalar === ScalarType.BYTES) return new Uint8Array(roll(20));
  if (field.scalar === ScalarType.INT32) return pick(roll, [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]);
  if (field.scalar === ScalarType.DOUBLE) {
    return pick(roll, [0, 0.5, 1, -1, 1e308, Number.NaN, Number.POSITIVE_INFINITY, Number.MIN_VALUE]);
  }
  return pick(roll, NUMBERS);
}

/** A lone surrogate has no bytes. */
const wellFormed = (text: string): string => text.replace(/[\ud800-\udfff]/g, "");
