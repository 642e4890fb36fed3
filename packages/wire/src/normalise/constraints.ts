// Parses constraints given as an object or as text: `gpu_type=GH200,gpu_count=4`, `gpu_type:GH200`, `memory_gb>=512`,
// `require_unified_memory`. Any other word is a feature.

import { CONSTRAINT_FIELDS, type ConstraintName } from "@lattice/core";
import { isObject, type Json, kindOf } from "../json/value.ts";
import { nearest } from "../text/nearest.ts";
import { type Draft, isFieldName } from "./draft.ts";

type Kind = (typeof CONSTRAINT_FIELDS)[ConstraintName]["kind"];
const ROWS = Object.values(CONSTRAINT_FIELDS);
const namesOf = (...kinds: readonly Kind[]): readonly string[] =>
  ROWS.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);

const TEXT = namesOf("text", "topology", "memory_policy");
const LEAST = namesOf("least", "gigabytes");
const MOST = namesOf("most");
const LISTS = namesOf("list", "nodes");
const FLAGS = namesOf("flag");
export const CONSTRAINT_KEYS: readonly string[] = ROWS.map(({ name }) => name);

const PATH = "resources.constraints";
const TERM = /^([A-Za-z][A-Za-z0-9_-]*)\s*(>=|<=|==|=|:|>|<)\s*(.*)$/;

export function putConstraints(draft: Draft, value: Json, from: string): void {
  if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) putConstraint(draft, { name, item, from: `${from}.${name}` });
  } else if (typeof value === "string") putTerms(draft, value, from);
  else if (Array.isArray(value)) {
    (value as readonly Json[]).forEach((item, i) => {
      if (typeof item === "string") putTerms(draft, item, `${from}[${i}]`);
      else draft.problems.add(`${from}[${i}]`, `must be a string, not ${kindOf(item)}`);
    });
  } else draft.problems.add(from, `must be an object or a string, not ${kindOf(value)}`);
}

/** One constraint of the object form, or an equivalent flat field. */
export function putConstraint(draft: Draft, given: { name: string; item: Json; from: string }): void {
  const { name, item, from } = given;
  if (item === null) return;
  if (!isFieldName(name)) {
    draft.problems.add(from, "is not a known constraint");
    return;
  }
  if (name !== "features") draft.put(`${PATH}.${name}`, item, from);
  else if (typeof item === "string") draft.append(`${PATH}.features`, words(item), from);
  else if (Array.isArray(item)) draft.append(`${PATH}.features`, item as readonly Json[], from);
  else draft.problems.add(from, `must be a list of strings, not ${kindOf(item)}`);
}

function putTerms(draft: Draft, text: string, from: string): void {
  for (const term of text.split(/[,&]/).map((part) => part.trim())) {
    if (term !== "") putTerm(draft, term, from);
  }
}

function putTerm(draft: Draft, term: string, from: string): void {
  const match = TERM.exec(term);
  if (match === null) {
    if (FLAGS.includes(term)) draft.put(`${PATH}.${term}`, true, from);
    else draft.append(`${PATH}.features`, [term], from);
    return;
  }
  const [, name = "", operator = "", value = ""] = match;
  const equal = operator === "=" || operator === ":" || operator === "==";
  if (LEAST.includes(name)) putLeast(draft, { name, value, from, usable: equal || operator === ">=" });
  else if (MOST.includes(name)) putMost(draft, { name, value, from, usable: equal || operator === "<=" });
  else if (!equal) draft.problems.add(from, `"${name}" takes "=", not "${operator}"`);
  else if (FLAGS.includes(name)) draft.put(`${PATH}.${name}`, value !== "false" && value !== "0", from);
  else if (LISTS.includes(name)) draft.append(`${PATH}.${name}`, words(value.replace(/[|+;]/g, " ")), from);
  else if (TEXT.includes(name)) draft.put(`${PATH}.${name}`, unquoted(value), from);
  else {
    const close = nearest(name, CONSTRAINT_KEYS);
    draft.problems.add(from, `"${name}" is not a known constraint`, close === null ? HINT : `Did you mean "${close}"?`);
  }
}

const HINT = `Known are ${CONSTRAINT_KEYS.join(", ")}, and names of features.`;

/** A minimum. */
function putLeast(draft: Draft, given: { name: string; value: string; from: string; usable: boolean }): void {
  const { name, value, from, usable } = given;
  const match = /^(\d+(?:\.\d+)?)\s*(?:gi?b?)?$/i.exec(unquoted(value));
  if (!usable) draft.problems.add(from, `"${name}" can only be a least amount`, `Write "${name}>=N".`);
  else if (match === null) draft.problems.add(from, `"${name}" needs a number, 0 or more`);
  else draft.put(`${PATH}.${name}`, Number(match[1]), from);
}

/** A maximum. */
function putMost(draft: Draft, given: { name: string; value: string; from: string; usable: boolean }): void {
  const { name, value, from, usable } = given;
  if (!usable) draft.problems.add(from, `"${name}" can only be a greatest amount`, `Write "${name}<=N".`);
  else if (!/^\d+$/.test(unquoted(value))) draft.problems.add(from, `"${name}" needs a whole number, 1 or more`);
  else draft.put(`${PATH}.${name}`, Number(unquoted(value)), from);
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");
const unquoted = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/, "$2");
