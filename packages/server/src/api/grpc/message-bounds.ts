// Limits of a decoded message. JSON is limited while it is parsed; protobuf only by its bytes, and a list of empty items
// costs one byte each. So lists, maps and depth are checked here before a handler runs.

import type { Message } from "@bufbuild/protobuf";
import type { FieldProblem } from "@lattice/core";
import { fieldError, MAX_DEPTH, MAX_ITEMS, type ProblemError } from "@lattice/wire";

/** Returns `null` within the limits, else the first violation, with the same text as over REST. */
export function boundsViolation(message: Message): ProblemError | null {
  const problem = checkFields(message as unknown as Fields, "", 0);
  return problem === null ? null : fieldError([problem]);
}

type Fields = Readonly<Record<string, unknown>>;

function checkFields(fields: Fields, path: string, depth: number): FieldProblem | null {
  if (depth >= MAX_DEPTH) return { field: path, detail: `is nested more than ${MAX_DEPTH} deep` };
  for (const name in fields) {
    const value = fields[name];
    // Most fields are strings and numbers.
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) continue;
    const problem = checkValue(value, path === "" ? snake(name) : `${path}.${snake(name)}`, depth);
    if (problem !== null) return problem;
  }
  return null;
}

function checkValue(value: object, path: string, depth: number): FieldProblem | null {
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) return { field: path, detail: `has ${value.length} items; at most ${MAX_ITEMS}` };
    return checkItems(value, (i) => `${path}[${i}]`, depth);
  }
  if ("$typeName" in value) return checkFields(value as Fields, path, depth + 1);
  // A oneof has a case and a value.
  if ("case" in value) return "value" in value && isObject(value.value) ? checkValue(value.value, path, depth) : null;
  const entries = Object.entries(value);
  if (entries.length > MAX_ITEMS) return { field: path, detail: `has ${entries.length} entries; at most ${MAX_ITEMS}` };
  return checkItems(
    entries.map(([, item]) => item),
    (i) => `${path}.${entries[i]?.[0] ?? ""}`,
    depth,
  );
}

function checkItems(items: readonly unknown[], at: (i: number) => string, depth: number): FieldProblem | null {
  for (const [i, item] of items.entries()) {
    if (!isObject(item)) continue;
    const problem = checkValue(item, at(i), depth);
    if (problem !== null) return problem;
  }
  return null;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array);
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
