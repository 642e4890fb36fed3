// One call to the fabric manager, with its token, a deadline and a limit on the answer; failures become error
// messages.

import { withDeadline } from "@lattice/wire";
import type { FabricConfig } from "../../base/config/index.ts";

export interface FabricAnswer {
  readonly status: number;
  readonly text: string;
}

export interface FabricCall {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Starts with a slash. */
  readonly path: string;
  readonly body: object | null;
  /** A repeated call with the same key has no further effect. */
  readonly idempotencyKey?: string;
}

type FabricHttp = (call: FabricCall, signal: AbortSignal) => Promise<FabricAnswer>;

/** A list of a few thousand networks with their nodes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export const fabricHttp =
  (config: FabricConfig): FabricHttp =>
  async ({ method, path, body, idempotencyKey }, signal) => {
    const response = await fetch(`${config.url}${path}`, {
      method,
      headers: {
        accept: "application/json",
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...(config.token === null ? {} : { authorization: `Bearer ${config.token}` }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: withDeadline(signal, config.timeoutMs),
    });
    const text = await response.text();
    if (text.length > MAX_ANSWER_BYTES) throw new Error(`an answer of ${text.length} bytes`);
    return { status: response.status, text };
  };

export const isGood = ({ status }: FabricAnswer): boolean => status >= 200 && status < 300;

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it does not answer in time";
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === undefined ? error.message : `it cannot be reached (${cause.code})`;
}
