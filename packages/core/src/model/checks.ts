// Small predicates for checks, and the bounded list that collects faults. A fault never repeats the user's text, which
// may be long or unprintable.

import type { FieldProblem } from "../base/outcome.ts";

/** A refusal lists at most this many faults. */
const MAX_PROBLEMS = 32;

export interface Problems {
  readonly list: FieldProblem[];
  add(field: string, detail: string): void;
  unless(good: boolean, field: string, detail: string): void;
  /** At most `most` characters, without NUL. */
  text(field: string, value: string, most: number): void;
}

export function problemList(): Problems {
  const list: FieldProblem[] = [];
  const add = (field: string, detail: string): void => {
    const known = list.some((problem) => problem.field === field && problem.detail === detail);
    if (!known && list.length < MAX_PROBLEMS) list.push({ field, detail });
  };
  const unless = (good: boolean, field: string, detail: string): void => {
    if (!good) add(field, detail);
  };
  return {
    list,
    add,
    unless,
    text(field, value, most) {
      unless(value.length <= most, field, `must have at most ${most} characters`);
      unless(!value.includes("\0"), field, "must not contain NUL bytes");
    },
  };
}

/** A whole number in a range; replicated state holds no floats. */
export const isCount = (n: number, least: number, most: number): boolean =>
  Number.isSafeInteger(n) && n >= least && n <= most;

export const isText = (text: string, most: number): boolean => text.length <= most && !text.includes("\0");
