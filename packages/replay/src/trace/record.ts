// One line of a JSON-lines trace, and how a reader refuses it.

import type { TraceError } from "./trace-error.ts";

export type TraceObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is TraceObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Creates the error of the current line. */
export type Bad = (detail: string) => TraceError;
