// A problem: an entry of the catalogue with the details of one failure. It is a plain value with the members of RFC
// 9457; `ProblemError` carries it through code that throws.

import type { FieldProblem, Refusal } from "@lattice/core";
import { ERRORS, type ErrorCode } from "./catalogue.ts";

export interface Problem {
  readonly code: ErrorCode;
  readonly title: string;
  /** HTTP status. */
  readonly status: number;
  readonly detail: string;
  readonly hint: string;
  readonly fields: readonly FieldProblem[];
  readonly retryable: boolean;
  /** For programs: current, requested and limit of a quota. */
  readonly values?: Readonly<Record<string, number>>;
  /** Delay before a retry; absent when the caller may retry soon. */
  readonly retryAfterSeconds?: number;
}

interface ProblemOptions {
  readonly detail?: string;
  readonly hint?: string;
  readonly fields?: readonly FieldProblem[];
  readonly values?: Readonly<Record<string, number>>;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export function problem(code: ErrorCode, options: ProblemOptions = {}): Problem {
  const { http, title, hint, retryable } = ERRORS[code];
  return {
    code,
    title,
    status: http,
    detail: options.detail ?? title,
    hint: options.hint ?? hint,
    fields: options.fields ?? [],
    retryable,
    ...(options.values === undefined ? {} : { values: options.values }),
    ...(options.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: options.retryAfterSeconds }),
  };
}

export const problemFromRefusal = (refusal: Refusal): Problem =>
  problem(refusal.code, refusal.figures === undefined ? refusal : { ...refusal, values: refusal.figures });

export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    super(options.detail ?? ERRORS[code].title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ProblemError";
    this.problem = problem(code, options);
  }

  /** Wraps a problem from outside, such as a server's response. */
  static of(problem: Problem): ProblemError {
    const error = new ProblemError(problem.code, { detail: problem.detail });
    return Object.defineProperty(error, "problem", { value: problem, enumerable: true });
  }
}

/** Returns the problem of a thrown value. Anything but a ProblemError is a defect and reveals no details. */
export const problemOf = (error: unknown): Problem =>
  error instanceof ProblemError ? error.problem : problem("internal");
