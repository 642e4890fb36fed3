// Parses task groups: `{start, end, step, concurrency}`, text such as "0-99:2%20" or "1,3,5-7", or the separate fields
// `type: task_group`, `template`, `range` and `concurrency`.

import { describeRange, parseIndexes, rangeOfRuns } from "@lattice/core";
import { fieldError } from "../errors/field-list.ts";
import { isObject, type Json, type JsonObject } from "../json/value.ts";
import type { Draft } from "./draft.ts";

const HINT = 'Write "0-99", "0-99:2", "0-99%20" or "1,3,5-7%2".';

export function putTaskGroup(draft: Draft, value: Json, from: string): void {
  if (typeof value !== "string" && typeof value !== "number") {
    draft.put("task_group", value, from);
    return;
  }
  const range = draft.attempt(() => parseTaskGroup(`${value}`, from));
  if (range !== undefined) draft.put("task_group", range, from);
}

/** Parses "0-99:2%20" and "1,3,5-7%2". Throws a ProblemError that names `from`. */
export function parseTaskGroup(text: string, from: string): JsonObject {
  const [written = "", most, ...rest] = text.trim().split("%", 3);
  const parsed = parseIndexes(written);
  if (parsed.kind === "bad") throw fieldError([{ field: from, detail: parsed.detail, hint: HINT }]);
  if (most !== undefined && (rest.length > 0 || !/^\d{1,9}$/.test(most))) {
    const detail = `has "%${[most, ...rest].join("%")}", which does not say how many at a time`;
    throw fieldError([{ field: from, detail, hint: HINT }]);
  }
  const limit = most === undefined ? {} : { concurrency: Number(most) };
  const range = rangeOfRuns(parsed.runs);
  if (range.runs !== undefined) return { indexes: describeRange(range), ...limit };
  const { start, end, step } = range;
  return { start, end, ...(step === 1 ? {} : { step }), ...limit };
}

/** Folds `template`, `range` and `concurrency` into one submission; returns other input unchanged. */
export function unfoldTemplate(spec: JsonObject, prefix = ""): JsonObject {
  const asked = spec.type === "task_group" || spec.template !== undefined || spec.range !== undefined;
  if (!asked) return spec;
  const { type, template, range, concurrency, ...rest } = spec;
  const shape = isObject(range) ? range : typeof range === "string" ? parseTaskGroup(range, `${prefix}range`) : null;
  if (shape === null && rest.task_group === undefined) {
    throw fieldError([
      { field: `${prefix}range`, detail: "must be given for a task group", hint: "Write {start: 0, end: 99}." },
    ]);
  }
  return {
    ...(isObject(template) ? template : {}),
    ...rest,
    ...(type === "task_group" || type === undefined ? {} : { type }),
    ...(shape === null ? {} : { task_group: { ...shape, ...(concurrency === undefined ? {} : { concurrency }) } }),
  };
}
