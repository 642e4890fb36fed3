// Building blocks of field tables: each puts the value of one user field into the full form.

import { isObject, type Json, kindOf } from "../json/value.ts";
import { hoursToSeconds, parseWalltime } from "../json/walltime.ts";
import { own } from "../text/own.ts";
import { type Draft, isFieldName } from "./draft.ts";

/** `from` is the name that the user wrote. */
export type PutField = (draft: Draft, value: Json, from: string) => void;
export type PutFields = Readonly<Record<string, PutField>>;

/** Words for `priority`; 5 is the default class. */
const PRIORITY_CLASSES: Readonly<Record<string, number>> = { low: 2, normal: 5, high: 8 };

export const at =
  (path: string): PutField =>
  (draft, value, from) =>
    draft.put(path, value, from);

/** Converts "72h" to seconds. */
export const duration =
  (path: string): PutField =>
  (draft, value, from) => {
    if (typeof value !== "string") {
      const whole = `${from.split(".").at(-1) ?? from}_seconds`;
      draft.problems.add(from, `must be a string, not ${kindOf(value)}`, `Write "72h", or use ${whole}.`);
      return;
    }
    const seconds = draft.attempt(() => parseWalltime(value, from));
    if (seconds !== undefined) draft.put(path, seconds, from);
  };

/** Converts hours to seconds. */
export const hours =
  (path: string): PutField =>
  (draft, value, from) => {
    if (typeof value !== "number") {
      draft.problems.add(from, `must be a number, not ${kindOf(value)}`);
      return;
    }
    const seconds = draft.attempt(() => hoursToSeconds(value, from));
    if (seconds !== undefined) draft.put(path, seconds, from);
  };

/** Converts a word to a class. */
export const priority =
  (path: string): PutField =>
  (draft, value, from) => {
    const found = typeof value === "string" ? own(PRIORITY_CLASSES, value.toLowerCase()) : undefined;
    if (found !== undefined) draft.put(path, found, from);
    else draft.problems.add(from, "must be low, normal or high", "Use preemption_class for a number from 0 to 10.");
  };

/** Puts the fields of an object one by one, so that conflicts are found; `known` has the place of each. */
export function inside(known: (name: string) => PutField | undefined): PutField {
  return (draft, value, from) => {
    if (!isObject(value)) {
      draft.problems.add(from, `must be an object, not ${kindOf(value)}`);
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      if (item === null) continue;
      const put = isFieldName(name) ? known(name) : undefined;
      if (put === undefined) draft.problems.add(`${from}.${name}`, "is not a known field");
      else put(draft, item, `${from}.${name}`);
    }
  };
}

/** A nested object of the full form, some of whose fields have a short form. */
export const group = (path: string, special: PutFields): PutField =>
  inside((name) => own(special, name) ?? at(`${path}.${name}`));

/** A word instead of an object with one field. */
export const word =
  (path: string, object: PutField): PutField =>
  (draft, value, from) =>
    typeof value === "string" ? draft.put(path, value, from) : object(draft, value, from);
