// Parses the number of nodes: a count, a range as `{min, max}` or "2-4", or a count as text.

import { isObject, type Json, kindOf } from "../json/value.ts";
import { quoted } from "../text/quoted.ts";
import type { Draft } from "./draft.ts";

const MAX_NODES = 0xffff_ffff;
const HINT = "Give a count such as 4, or a range such as 2-4.";

export function putNodeCount(draft: Draft, value: Json, from: string): void {
  if (isObject(value)) {
    draft.put("resources.nodes", value, from);
    return;
  }
  const range = rangeOf(value);
  if (range === null) {
    const shown = typeof value === "string" || typeof value === "number" ? quoted(String(value)) : kindOf(value);
    draft.problems.add(from, `${shown} is not a number of nodes`, HINT);
  } else if (range.min < 1) draft.problems.add(from, `must be at least 1, not ${range.min}`, HINT);
  else if (range.min > range.max) draft.problems.add(from, `has min ${range.min} above max ${range.max}`, HINT);
  else draft.put("resources.nodes", { min: range.min, max: range.max }, from);
}

function rangeOf(value: Json): { min: number; max: number } | null {
  if (typeof value === "number") return whole(value) ? { min: value, max: value } : null;
  if (typeof value !== "string") return null;
  const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(value);
  if (match === null) return null;
  const min = Number(match[1]);
  const max = Number(match[2] ?? match[1]);
  return whole(min) && whole(max) ? { min, max } : null;
}

const whole = (n: number): boolean => Number.isInteger(n) && n <= MAX_NODES;
