// Writes messages as JSON text, equal to `JSON.stringify(toJson(...))` but without intermediate objects: a list of a
// hundred allocations has several thousand fields, and their garbage causes pauses.
//
// An immutable message that is written repeatedly (the spec of an allocation) can be cached: its text is made once.

import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { toJson, valueWriter } from "./to-json.ts";
import type { Json } from "./value.ts";

type Fields = Readonly<Record<string, unknown>>;
/** Returns `,"name":value`, or an empty text to omit the field. */
type FieldText = (message: Fields) => string;

const compiled = new WeakMap<DescMessage, readonly FieldText[]>();
/** `null` until first written. */
const kept = new WeakMap<object, string | null>();

export function toJsonText<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return textOf(schema, message as Fields);
}

/**
 * The same text in pieces, each item of its lists by itself: a page is encoded piece by piece, where one string of all of
 * it would be as large as the collector moves at all, several times over.
 */
export function jsonPieces<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): readonly string[] {
  const fields = message as Fields;
  const pieces: string[] = [];
  let text = "";
  for (const [n, write] of writersOf(schema).entries()) {
    const field = schema.fields[n];
    const items = field === undefined || !isMessage(field) ? undefined : fields[field.localName];
    if (field?.message === undefined || !Array.isArray(items) || items.length === 0) {
      text += write(fields);
      continue;
    }
    text += `,${JSON.stringify(field.name)}:[`;
    for (const [i, item] of items.entries()) {
      pieces.push(i === 0 ? text : ",", textOf(field.message, item as Fields));
    }
    text = "]";
  }
  pieces.push(`${text}}`);
  pieces[0] = `{${pieces[0]?.replace(/^,/, "")}`;
  return pieces;
}

/** The message must not change afterwards. */
export function keepText(message: object): void {
  if (!kept.has(message)) kept.set(message, null);
}

function textOf(schema: DescMessage, message: Fields): string {
  const known = kept.get(message);
  if (known === undefined) return freshText(schema, message);
  if (known !== null) return known;
  // Flattened: a concatenated string would stay a tree of its parts.
  const text = JSON.stringify(toJson(schema, message as MessageShape<DescMessage>));
  kept.set(message, text);
  return text;
}

function freshText(schema: DescMessage, message: Fields): string {
  let text = "";
  for (const write of writersOf(schema)) text += write(message);
  return `{${text.slice(1)}}`;
}

function writersOf(schema: DescMessage): readonly FieldText[] {
  let writers = compiled.get(schema);
  if (writers === undefined) {
    writers = schema.fields.map(fieldText);
    compiled.set(schema, writers);
  }
  return writers;
}

function fieldText(field: DescField): FieldText {
  const { localName, oneof } = field;
  const named = namedText(field);
  if (oneof === undefined) return (message) => named(message[localName]);
  return (message) => {
    const chosen = message[oneof.localName] as { case?: string; value?: unknown };
    return chosen.case === localName ? named(chosen.value) : "";
  };
}

function namedText(field: DescField): (value: unknown) => string {
  const head = `,${JSON.stringify(field.name)}:`;
  const write = valueText(field);
  const nothing = emptyOf(field);
  const empty = nothing === undefined ? "" : head + JSON.stringify(nothing);
  return (value) => {
    if (value === undefined) return "";
    if (value === nothing || (Array.isArray(value) && value.length === 0)) return empty;
    const text = write(value);
    return text === undefined ? "" : head + text;
  };
}

/** Fast path for common scalars; returns undefined to omit the field. */
function emptyOf({ fieldKind, scalar }: DescField): unknown {
  if (fieldKind === "list") return [];
  if (fieldKind !== "scalar" || scalar === ScalarType.BYTES) return undefined;
  if (scalar === ScalarType.STRING) return "";
  return scalar === ScalarType.BOOL ? false : 0;
}

function valueText(field: DescField): (value: unknown) => string | undefined {
  const { message } = field;
  if (isMessage(field) && message !== undefined) {
    if (field.fieldKind !== "list") return (value) => textOf(message, value as Fields);
    return (value) => `[${(value as readonly Fields[]).map((item) => textOf(message, item)).join(",")}]`;
  }
  const write = valueWriter(field);
  return (value) => {
    const json = write(value);
    return json === undefined ? undefined : leafText(json);
  };
}

/** Writes one value or a list. */
const isMessage = ({ message, fieldKind }: DescField): boolean =>
  message !== undefined && message.typeName !== TimestampSchema.typeName && fieldKind !== "map";

/** Most text has only these characters, which JSON does not escape. */
const PLAIN = /^[\w .,:;/@=+-]*$/;

function leafText(value: Json): string {
  if (typeof value === "string") return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  return JSON.stringify(value);
}
