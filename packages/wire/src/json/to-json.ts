// Writes messages as JSON: proto field names, lower-case enum values without prefix, RFC 3339 instants.
//
// Every scalar with implicit presence is written, also when it is empty, false or 0, and every list, so that a record
// always has all its columns. Unset messages, unset optional fields, empty maps and unspecified enums are omitted.
// Writers are compiled once per message type, because they run for every record of every list.

import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { formatBytes } from "./base64.ts";
import { enumName } from "./enum-names.ts";
import { formatTimestamp } from "./timestamp.ts";
import type { Json, JsonObject } from "./value.ts";

type Fields = Readonly<Record<string, unknown>>;
type Write = (value: unknown) => Json | undefined;
type WriteInto = (message: Fields, out: Record<string, Json>) => void;

const cache = new WeakMap<DescMessage, readonly WriteInto[]>();

export function toJson<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): JsonObject {
  return writeMessage(schema, message as Fields);
}

function writeMessage(schema: DescMessage, message: Fields): JsonObject {
  const out: Record<string, Json> = {};
  for (const write of writersOf(schema)) write(message, out);
  return out;
}

function writersOf(schema: DescMessage): readonly WriteInto[] {
  let writers = cache.get(schema);
  if (writers === undefined) {
    writers = schema.fields.map(fieldWriter);
    cache.set(schema, writers);
  }
  return writers;
}

function fieldWriter(field: DescField): WriteInto {
  const { name, localName, oneof } = field;
  const write = valueWriter(field);
  if (oneof !== undefined) {
    return (message, out) => {
      const chosen = message[oneof.localName] as { case?: string; value?: unknown };
      if (chosen.case === localName) put(out, name, write(chosen.value));
    };
  }
  return (message, out) => {
    const value = message[localName];
    if (value !== undefined) put(out, name, write(value));
  };
}

function put(out: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value !== undefined) out[name] = value;
}

/** Writes a field: a single value, a list or a map. */
export function valueWriter(field: DescField): Write {
  const write = singleWriter(field);
  if (field.fieldKind === "list") return (value) => (value as readonly unknown[]).map((item) => write(item) ?? null);
  if (field.fieldKind === "map") return (value) => writeMap(value as Fields, write);
  return write;
}

function writeMap(map: Fields, write: Write): JsonObject | undefined {
  const keys = Object.keys(map);
  if (keys.length === 0) return undefined;
  const out: Record<string, Json> = {};
  for (const key of keys) out[key] = write(map[key]) ?? null;
  return out;
}

function singleWriter({ message, enum: desc, scalar }: DescField): Write {
  if (message?.typeName === TimestampSchema.typeName) return (value) => formatTimestamp(value as Timestamp);
  if (message !== undefined) return (value) => writeMessage(message, value as Fields);
  // A value that this version does not know is written as its number.
  if (desc !== undefined) return (value) => (value === 0 ? undefined : (enumName(desc, value as number) ?? `${value}`));
  if (scalar === ScalarType.BYTES) return (value) => formatBytes(value as Uint8Array);
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT) {
    return (value) => (Number.isFinite(value) ? (value as number) : null);
  }
  return (value) => value as Json;
}
