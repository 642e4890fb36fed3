// Parses one scalar of a JSON body, strictly: no numbers in strings, no rounding, no wrap-around. A reader returns the
// value, or the error and the correct form.

import { ScalarType } from "@bufbuild/protobuf";
import { parseBytes } from "./base64.ts";
import { kindOf } from "./value.ts";

interface Wrong {
  readonly wrong: string;
  readonly hint?: string;
}
export type Read<T> = { readonly value: T } | Wrong;
type ReadScalar = (value: unknown) => Read<unknown>;

const LONE_SURROGATE = /\p{Cs}/u;

const RANGES: Partial<Record<ScalarType, readonly [number, number]>> = {
  [ScalarType.INT32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.SINT32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.SFIXED32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.UINT32]: [0, 0xffff_ffff],
  [ScalarType.FIXED32]: [0, 0xffff_ffff],
};

export function scalarReader(type: ScalarType): ReadScalar {
  if (type === ScalarType.STRING) return readString;
  if (type === ScalarType.BOOL) return readBool;
  if (type === ScalarType.BYTES) return readBytes;
  if (type === ScalarType.DOUBLE || type === ScalarType.FLOAT) return readNumber;
  const range = RANGES[type];
  if (range === undefined) throw new Error(`64-bit fields have no JSON form here (scalar type ${type})`);
  return (value) => readWhole(value, range);
}

export function readString(value: unknown): Read<string> {
  if (typeof value !== "string") return { wrong: `must be a string, not ${kindOf(value)}`, ...quoteHint(value) };
  if (LONE_SURROGATE.test(value)) return { wrong: "is not well-formed Unicode (half of a surrogate pair)" };
  return { value };
}

function readBool(value: unknown): Read<boolean> {
  if (typeof value === "boolean") return { value };
  return { wrong: `must be true or false, not ${kindOf(value)}` };
}

function readBytes(value: unknown): Read<Uint8Array> {
  const bytes = typeof value === "string" ? parseBytes(value) : null;
  return bytes === null ? { wrong: "must be base64" } : { value: bytes };
}

function readNumber(value: unknown): Read<number> {
  if (typeof value !== "number") return { wrong: `must be a number, not ${kindOf(value)}`, ...unquoteHint(value) };
  if (!Number.isFinite(value)) return { wrong: "must be a finite number" };
  return { value };
}

function readWhole(value: unknown, [least, most]: readonly [number, number]): Read<number> {
  const bounds = `between ${least} and ${most}`;
  if (typeof value !== "number") {
    return { wrong: `must be a whole number ${bounds}, not ${kindOf(value)}`, ...unquoteHint(value) };
  }
  if (!Number.isInteger(value)) return { wrong: `must be a whole number ${bounds}, not ${value}` };
  if (value < least || value > most) return { wrong: `must be ${bounds}, not ${value}` };
  // -0 would not survive the round trip.
  return { value: value + 0 };
}

const unquoteHint = (value: unknown): { hint?: string } =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))
    ? { hint: `Write ${Number(value)} without quotes.` }
    : {};
const quoteHint = (value: unknown): { hint?: string } =>
  typeof value === "number" ? { hint: `Write "${value}" in quotes.` } : {};
