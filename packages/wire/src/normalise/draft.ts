// A submission under construction, keyed by the path in the full form. It records which field of the user set each
// value: two fields for one value are a conflict that names both, and later problems name the field as the user wrote
// it.

import { FieldList } from "../errors/field-list.ts";
import { ProblemError } from "../errors/problem.ts";
import type { Json, JsonObject } from "../json/value.ts";

/** A user's name may become part of a path only in this form: a dot would start a new level. */
export const isFieldName = (name: string): boolean => /^[a-z][a-z0-9_]*$/i.test(name);

interface Given {
  readonly value: Json;
  /** The name that the user wrote. */
  readonly from: string;
}

export class Draft {
  readonly problems = new FieldList();
  readonly warnings: string[] = [];
  readonly #given = new Map<string, Given>();

  put(path: string, value: Json, from: string): void {
    const before = this.#given.get(path);
    if (before === undefined) this.#given.set(path, { value, from });
    else this.problems.add(from, `has the same meaning as ${before.from}`, `Keep one of ${before.from} and ${from}.`);
  }

  /** Merges a list without duplicates, such as features from two places. */
  append(path: string, items: readonly Json[], from: string): void {
    const before = this.#given.get(path);
    const list = before !== undefined && Array.isArray(before.value) ? (before.value as readonly Json[]) : [];
    this.#given.set(path, { value: [...new Set([...list, ...items])], from: before?.from ?? from });
  }

  has(path: string): boolean {
    return this.#given.has(path);
  }

  /** Runs a parser and records the field problems that it throws. */
  attempt<T>(parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      for (const { field, detail, hint } of error.problem.fields) this.problems.add(field, detail, hint);
      return undefined;
    }
  }

  /** The full form. */
  build(): JsonObject {
    const root: Record<string, Json> = {};
    for (const [path, { value }] of this.#given) setIn(root, path.split("."), value);
    return root;
  }

  /** Returns the user's name for a path of the full form and the paths below it. */
  origin(path: string): string {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      const head = path.slice(0, end);
      const given = this.#given.get(head) ?? this.#given.get(head.replace(/\[\d+\]$/, ""));
      if (given === undefined) continue;
      const rest = this.#given.has(head) ? path.slice(end) : path.slice(head.replace(/\[\d+\]$/, "").length);
      return given.from + rest;
    }
    return path;
  }
}

function setIn(root: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = root;
  for (const key of path.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Record<string, Json>;
  }
  const last = path.at(-1);
  if (last !== undefined) at[last] = value;
}
