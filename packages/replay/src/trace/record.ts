// One line of our own trace as it comes out of JSON, and how a reader refuses it.

import type { TraceError } from "./trace-error.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Makes the refusal of the line that is being read. */
export type Bad = (detail: string) => TraceError;
