// Collects all field problems of one request, so that a user can correct them at once, and turns them into one
// ProblemError. The list is bounded, so that a hostile body cannot produce a large response.

import type { FieldProblem } from "@lattice/core";
import type { ErrorCode } from "./catalogue.ts";
import { ProblemError } from "./problem.ts";

/** Enough for a person; further problems are only counted. */
const MAX_FIELD_PROBLEMS = 20;

/** Number of fields in the one-line detail; the complete list is separate. */
const MAX_NAMED = 5;

export class FieldList {
  readonly fields: FieldProblem[] = [];
  /** Number of problems beyond the limit. */
  dropped = 0;

  get empty(): boolean {
    return this.fields.length === 0;
  }

  /** Beyond the limit problems are counted without computing hints. */
  get full(): boolean {
    return this.fields.length >= MAX_FIELD_PROBLEMS;
  }

  add(field: string, detail: string, hint?: string): void {
    if (this.full) this.dropped += 1;
    else this.fields.push(hint === undefined ? { field, detail } : { field, detail, hint });
  }

  throwIfAny(code: ErrorCode = "invalid_argument"): void {
    if (!this.empty) throw fieldError(this.fields, { code, dropped: this.dropped });
  }
}

export function fieldError(
  fields: readonly FieldProblem[],
  { code = "invalid_argument", dropped = 0 }: { code?: ErrorCode; dropped?: number } = {},
): ProblemError {
  const first = fields[0];
  const count = fields.length + dropped;
  const detail =
    count === 1 && first !== undefined
      ? `${first.field}: ${first.detail}`
      : `${count} fields are not acceptable: ${namesOf(fields)}${count > MAX_NAMED ? ", ..." : ""}`;
  const hint = fields.length === 1 ? first?.hint : undefined;
  return new ProblemError(code, { detail, fields, ...(hint === undefined ? {} : { hint }) });
}

const namesOf = (fields: readonly FieldProblem[]): string =>
  fields
    .slice(0, MAX_NAMED)
    .map(({ field }) => field)
    .join(", ");
