// Converts query and path parameters to typed fields: text to numbers, booleans and enums. A list is a repeated
// parameter or a comma-separated one.

import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { FieldList } from "../errors/field-list.ts";
import { durationName } from "../json/durations.ts";
import { refuseUnknown } from "../json/from-json.ts";
import type { Json } from "../json/value.ts";
import { own } from "../text/own.ts";

/** Read by the server before the request is parsed; never a field. */
const RESERVED_QUERY: readonly string[] = ["consistent", "min_index"];

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the query as the JSON object for `fromJson`; `fields` are those of the request. */
export function queryToJson(fields: readonly DescField[], query: Query): Record<string, Json> {
  const problems = new FieldList();
  const known = new Map(fields.filter(isFlat).map((field) => [field.name, field]));
  const durations = new Set(fields.flatMap((field) => durationName(field) ?? []));
  const out: Record<string, Json> = {};
  for (const [name, given] of Object.entries(query)) {
    if (given === undefined || RESERVED_QUERY.includes(name)) continue;
    const field = known.get(name);
    if (field !== undefined) out[name] = paramOf(field, given, problems);
    else if (durations.has(name)) out[name] = textOf(name, given, problems) || null;
    else refuseUnknown(problems, { path: name, name, known: [...known.keys(), ...durations] });
  }
  problems.throwIfAny();
  return out;
}

/** An instant is a single text. */
export const isFlat = (field: DescField): boolean =>
  field.fieldKind !== "map" && (field.message === undefined || isTimestamp(field));

const isTimestamp = (field: DescField): boolean =>
  field.fieldKind === "message" && field.message.typeName === "google.protobuf.Timestamp";

function paramOf(field: DescField, given: string | readonly string[], problems: FieldList): Json {
  const texts = typeof given === "string" ? [given] : given;
  if (field.fieldKind === "list") {
    return texts
      .flatMap((text) => text.split(","))
      .filter((text) => text !== "")
      .map((text) => scalarOf(field, text));
  }
  const text = textOf(field.name, texts, problems);
  // An empty parameter is unset, except for text.
  return text === "" && field.scalar !== ScalarType.STRING ? null : scalarOf(field, text);
}

function textOf(name: string, given: string | readonly string[], problems: FieldList): string {
  if (typeof given === "string") return given;
  if (given.length !== 1) problems.add(name, "is given more than once");
  return given[0] ?? "";
}

/** An invalid value stays text, and `fromJson` reports the problem. */
function scalarOf(field: DescField, text: string): Json {
  if (
    isTimestamp(field) ||
    field.enum !== undefined ||
    field.scalar === ScalarType.STRING ||
    field.scalar === ScalarType.BYTES
  )
    return text;
  if (field.scalar === ScalarType.BOOL) return own(BOOLS, text.toLowerCase()) ?? text;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

const BOOLS: Readonly<Record<string, boolean>> = { true: true, false: false, "1": true, "0": false };
