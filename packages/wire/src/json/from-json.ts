// Parses JSON into messages, strictly. An unknown name is refused with the nearest known one; a wrong type or range is
// refused with its path; all problems are reported together. `null` means unset; durations may be text. Readers are
// compiled once per message type.

import { create, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { FieldList } from "../errors/field-list.ts";
import { ProblemError } from "../errors/problem.ts";
import { nearest } from "../text/nearest.ts";
import { parseBytes } from "./base64.ts";
import { durationsOf } from "./durations.ts";
import { enumNames, enumNumber } from "./enum-names.ts";
import { parseTimestamp } from "./timestamp.ts";
import { isObject, kindOf } from "./value.ts";
import { parseWalltime } from "./walltime.ts";

/** Longer lists and maps are refused: no request of this API needs them. */
export const MAX_ITEMS = 10_000;
/** Nested messages; the contract nests less than half as deep. */
export const MAX_DEPTH = 16;

interface Context {
  readonly problems: FieldList;
  readonly depth: number;
}
type ReadField = (value: unknown, path: string, context: Context) => unknown;
interface FieldReader {
  readonly field: DescField;
  readonly read: ReadField;
}

/** Marks a refused value, whose problem has been recorded. */
const REFUSED = Symbol("refused");
const cache = new WeakMap<DescMessage, ReadonlyMap<string, FieldReader>>();

/** `path` is put before every field name in the problems, for example "allocation". */
export function fromJson<Desc extends DescMessage>(schema: Desc, json: unknown, path = ""): MessageShape<Desc> {
  const problems = new FieldList();
  const message = readMessage(schema, json, path, { problems, depth: 0 });
  problems.throwIfAny();
  return message as MessageShape<Desc>;
}

function readMessage(schema: DescMessage, json: unknown, path: string, context: Context): unknown {
  const { problems } = context;
  const where = path === "" ? "body" : path;
  if (!isObject(json)) return refuse(problems, where, `must be an object, not ${kindOf(json)}`);
  if (context.depth >= MAX_DEPTH) return refuse(problems, where, `is nested more than ${MAX_DEPTH} deep`);
  const readers = readersOf(schema);
  const inner = { problems, depth: context.depth + 1 };
  const message = create(schema) as unknown as Record<string, unknown>;
  for (const key of Object.keys(json)) {
    const reader = readers.get(key);
    const fieldPath = path === "" ? key : `${path}.${key}`;
    if (reader === undefined) {
      refuseUnknown(problems, { path: fieldPath, name: key, known: readers.keys() });
      continue;
    }
    const given = json[key];
    if (given === null || given === undefined) continue;
    const same = reader.field.name;
    if (key !== same && json[same] !== null && json[same] !== undefined) {
      problems.add(fieldPath, `has the same meaning as ${same}`, `Keep one of ${key} and ${same}.`);
      continue;
    }
    const value = reader.read(given, fieldPath, inner);
    if (value !== REFUSED) assign(message, reader.field, value);
  }
  return message;
}

export function refuseUnknown(
  problems: FieldList,
  { path, name, known }: { path: string; name: string; known: Iterable<string> },
): void {
  // Suggestions are expensive, and a hostile body has thousands of unknown names.
  const close = problems.full ? null : nearest(name, known);
  problems.add(shown(path), "is not a known field", close === null ? undefined : `Did you mean "${close}"?`);
}

/** A field name from outside may be long or unprintable. */
const shown = (path: string): string =>
  path.replace(/\p{C}/gu, "\ufffd").length > 200 ? `${path.slice(0, 200)}...` : path.replace(/\p{C}/gu, "\ufffd");

function assign(message: Record<string, unknown>, { oneof, localName }: DescField, value: unknown): void {
  if (oneof === undefined) message[localName] = value;
  else message[oneof.localName] = { case: localName, value };
}

function readersOf(schema: DescMessage): ReadonlyMap<string, FieldReader> {
  let readers = cache.get(schema);
  if (readers === undefined) {
    const durations = [...durationsOf(schema)].map(([name, field]) => [name, { field, read: readDuration }] as const);
    const named = schema.fields.map((field) => [field.name, { field, read: fieldReader(field) }] as const);
    readers = new Map<string, FieldReader>([...durations, ...named]);
    cache.set(schema, readers);
  }
  return readers;
}

function fieldReader(field: DescField): ReadField {
  const read = singleReader(field);
  if (field.fieldKind === "list") return (value, path, context) => readList(value, { path, context, read });
  if (field.fieldKind === "map") return (value, path, context) => readMap(value, { path, context, read });
  return read;
}

interface Nested {
  readonly path: string;
  readonly context: Context;
  readonly read: ReadField;
}

function readList(value: unknown, { path, context, read }: Nested): unknown {
  const { problems } = context;
  if (!Array.isArray(value)) return refuse(problems, path, `must be a list, not ${kindOf(value)}`);
  if (value.length > MAX_ITEMS) return refuse(problems, path, `has ${value.length} items; at most ${MAX_ITEMS}`);
  return value.map((item, i) => read(item, `${path}[${i}]`, context)).filter((item) => item !== REFUSED);
}

function readMap(value: unknown, { path, context, read }: Nested): unknown {
  const { problems } = context;
  if (!isObject(value)) return refuse(problems, path, `must be an object, not ${kindOf(value)}`);
  const keys = Object.keys(value);
  if (keys.length > MAX_ITEMS) return refuse(problems, path, `has ${keys.length} entries; at most ${MAX_ITEMS}`);
  const out: Record<string, unknown> = {};
  for (const key of keys) {
    const at = shown(`${path}.${key}`);
    // Assigning `__proto__` would change the object's prototype.
    if (key === "__proto__") refuse(problems, at, "is not usable as a key");
    else if ("wrong" in readString(key)) refuse(problems, at, "is not well-formed Unicode");
    else {
      const item = read(value[key], at, context);
      if (item !== REFUSED) out[key] = item;
    }
  }
  return out;
}

function singleReader({ message, enum: desc, scalar }: DescField): ReadField {
  if (message?.typeName === TimestampSchema.typeName) return checked(readTimestamp);
  if (message !== undefined) return (value, path, context) => readMessage(message, value, path, context);
  if (desc !== undefined) {
    return checked((value) => {
      const number = typeof value === "string" ? enumNumber(desc, value) : undefined;
      if (number !== undefined) return { value: number };
      const close = typeof value === "string" ? nearest(value, enumNames(desc)) : null;
      const hint = close === null ? {} : { hint: `Did you mean "${close}"?` };
      return { wrong: `must be one of ${enumNames(desc).join(", ")}`, ...hint };
    });
  }
  return checked(scalarReader(scalar));
}

const checked =
  (read: (value: unknown) => Read<unknown>): ReadField =>
  (value, path, { problems }) => {
    const result = read(value);
    return "wrong" in result ? refuse(problems, path, result.wrong, result.hint) : result.value;
  };

function readTimestamp(value: unknown): Read<unknown> {
  const parsed = typeof value === "string" ? parseTimestamp(value) : null;
  return parsed === null
    ? { wrong: "must be an instant as RFC 3339 has it", hint: 'For example "2026-11-15T08:30:00Z".' }
    : { value: parsed };
}

/** "4h" for a field of whole seconds, under its name without the unit. */
function readDuration(value: unknown, path: string, { problems }: Context): unknown {
  if (typeof value !== "string") {
    const hint = `Write "4h", or use ${path.slice(path.lastIndexOf(".") + 1)}_seconds.`;
    return refuse(problems, path, `must be a string, not ${kindOf(value)}`, hint);
  }
  try {
    return parseWalltime(value, path);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    for (const { field, detail, hint } of error.problem.fields) problems.add(field, detail, hint);
    return REFUSED;
  }
}

function refuse(problems: FieldList, path: string, detail: string, hint?: string): typeof REFUSED {
  problems.add(path, detail, hint);
  return REFUSED;
}

interface Wrong {
  readonly wrong: string;
  readonly hint?: string;
}
type Read<T> = { readonly value: T } | Wrong;
type ReadScalar = (value: unknown) => Read<unknown>;

const LONE_SURROGATE = /\p{Cs}/u;

const RANGES: Partial<Record<ScalarType, readonly [number, number]>> = {
  [ScalarType.INT32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.SINT32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.SFIXED32]: [-0x8000_0000, 0x7fff_ffff],
  [ScalarType.UINT32]: [0, 0xffff_ffff],
  [ScalarType.FIXED32]: [0, 0xffff_ffff],
};

function scalarReader(type: ScalarType): ReadScalar {
  if (type === ScalarType.STRING) return readString;
  if (type === ScalarType.BOOL) return readBool;
  if (type === ScalarType.BYTES) return readBytes;
  if (type === ScalarType.DOUBLE || type === ScalarType.FLOAT) return readNumber;
  const range = RANGES[type];
  if (range === undefined) throw new Error(`64-bit fields have no JSON form here (scalar type ${type})`);
  return (value) => readWhole(value, range);
}

function readString(value: unknown): Read<string> {
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
