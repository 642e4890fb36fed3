// Converts problems to application/problem+json (RFC 9457) and back. Parsing is lenient: a proxy or a newer server may
// answer with another body, and the caller still gets a problem that describes it.

import type { FieldProblem } from "@lattice/core";
import { ERRORS, type ErrorCode, isErrorCode } from "./catalogue.ts";
import { type Problem, problem } from "./problem.ts";

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

export function problemToJson({ retryAfterSeconds, ...p }: Problem): Record<string, unknown> {
  const after = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
  return { type: `urn:lattice:error:${p.code}`, ...p, ...after };
}

/** `status` is the HTTP status of the response, used when the body is not a problem. */
export function problemFromJson(body: unknown, status: number): Problem {
  const value = isRecord(body) ? body : {};
  const code = typeof value.code === "string" && isErrorCode(value.code) ? value.code : codeOfStatus(status);
  const base = problem(code, {
    detail: text(value.detail) ?? text(value.title) ?? `the server answered with status ${status}`,
    fields: Array.isArray(value.fields) ? value.fields.flatMap(fieldOf) : [],
    ...(text(value.hint) === undefined ? {} : { hint: text(value.hint) ?? "" }),
    ...(isRecord(value.values) ? { values: numbersOf(value.values) } : {}),
    ...(typeof value.retry_after_seconds === "number" ? { retryAfterSeconds: value.retry_after_seconds } : {}),
  });
  return typeof value.retryable === "boolean" ? { ...base, retryable: value.retryable } : base;
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  if (status === 409) return "conflict";
  if (status >= 400 && status < 500) {
    for (const [code, entry] of Object.entries(ERRORS)) if (entry.http === status && isErrorCode(code)) return code;
    return "invalid_argument";
  }
  if (status === 502 || status === 503) return "connection_failed";
  return status === 504 ? "deadline_exceeded" : "internal";
}

function fieldOf(value: unknown): FieldProblem[] {
  if (!isRecord(value) || typeof value.field !== "string") return [];
  const hint = text(value.hint);
  return [{ field: value.field, detail: text(value.detail) ?? "", ...(hint === undefined ? {} : { hint }) }];
}

const numbersOf = (record: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(Object.entries(record).filter((pair): pair is [string, number] => typeof pair[1] === "number"));
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
