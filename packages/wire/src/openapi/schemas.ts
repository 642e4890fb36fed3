// Converts messages and enums to JSON Schema, in the form of the JSON transcoder.

import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { enumNames } from "../json/enum-names.ts";
import type { Json, JsonObject } from "../json/value.ts";

/** Everything that the messages refer to, by short name. */
export function schemasOf(roots: Iterable<DescMessage>): Record<string, JsonObject> {
  const out: Record<string, JsonObject> = {};
  for (const desc of reached(roots)) out[desc.name] = desc.kind === "enum" ? enumSchema(desc) : messageSchema(desc);
  return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns these messages and all messages that they refer to. */
export const messagesIn = (roots: Iterable<DescMessage>): DescMessage[] =>
  [...reached(roots)].filter((desc): desc is DescMessage => desc.kind === "message");

function reached(roots: Iterable<DescMessage>): Set<DescMessage | DescEnum> {
  const seen = new Set<DescMessage | DescEnum>();
  const unseen: (DescMessage | DescEnum)[] = [...roots];
  for (let desc = unseen.pop(); desc !== undefined; desc = unseen.pop()) {
    if (desc.typeName === TimestampSchema.typeName || seen.has(desc)) continue;
    seen.add(desc);
    if (desc.kind === "message") for (const field of desc.fields) unseen.push(...referred(field));
  }
  return seen;
}

export const refTo = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema of a field in JSON; also used for query parameters. */
export function fieldSchema(field: DescField): JsonObject {
  const single = singleSchema(field);
  if (field.fieldKind === "list") return { type: "array", items: single };
  return field.fieldKind === "map" ? { type: "object", additionalProperties: single } : single;
}

function referred({ message, enum: desc }: DescField): (DescMessage | DescEnum)[] {
  if (message !== undefined) return [message];
  return desc === undefined ? [] : [desc];
}

function messageSchema(desc: DescMessage): JsonObject {
  const properties: Record<string, Json> = {};
  for (const field of desc.fields) properties[field.name] = fieldSchema(field);
  return { type: "object", title: desc.name, properties, additionalProperties: false };
}

const enumSchema = (desc: DescEnum): JsonObject => ({ type: "string", title: desc.name, enum: enumNames(desc) });

function singleSchema({ message, enum: desc, scalar }: DescField): JsonObject {
  if (message?.typeName === TimestampSchema.typeName) return { type: "string", format: "date-time" };
  if (message !== undefined) return refTo(message.name);
  if (desc !== undefined) return refTo(desc.name);
  return SCALARS[scalar] ?? { type: "integer" };
}

const SCALARS: Partial<Record<ScalarType, JsonObject>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.DOUBLE]: { type: "number" },
  [ScalarType.FLOAT]: { type: "number" },
  [ScalarType.INT32]: { type: "integer", minimum: -0x8000_0000, maximum: 0x7fff_ffff },
  [ScalarType.UINT32]: { type: "integer", minimum: 0, maximum: 0xffff_ffff },
};
