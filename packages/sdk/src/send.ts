// Sends one generated call: fills in the path, places the remaining fields in the query or the body, and adds a request
// id to changes. It knows nothing about single calls; those are in ../gen/calls.ts.

import type { Caller, CallOptions, ChangeOptions } from "./call.ts";
import { queryString } from "./query.ts";
import type { HttpRequest } from "./transport/transport.ts";

interface RestCall {
  readonly method: HttpRequest["method"];
  /** Names in braces are fields of the request. */
  readonly path: string;
  /** Whether the fields travel in the body; otherwise in the query. */
  readonly body: boolean;
  readonly requestId: boolean;
  /** Whether a repetition is safe. Default: for reads, and for calls with a request id. */
  readonly repeatable?: boolean;
  readonly timeoutMs?: number;
}

export function send<T>(caller: Caller, call: RestCall, given: object, options: ChangeOptions = {}): Promise<T> {
  const fields = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined));
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(fields.get(name) ?? ""));
    fields.delete(name);
    return value;
  });
  const stated = Object.fromEntries(fields);
  const sent = call.requestId ? withRequestId(stated, options.requestId) : stated;
  return caller.json(
    {
      method: call.method,
      path: call.body ? path : path + queryString(sent),
      ...(call.body ? { body: sent } : {}),
      repeatable: call.repeatable ?? (call.requestId || call.method === "GET"),
    },
    call.timeoutMs === undefined ? options : { timeoutMs: call.timeoutMs, ...options },
  );
}

/** Returns the fields of a request that are given together with the options of the call. */
export function fieldsOf(options: object): object {
  const {
    signal: _signal,
    timeoutMs: _timeoutMs,
    requestId: _requestId,
    ...fields
  } = options as ChangeOptions & CallOptions;
  return fields;
}

const ID_BYTES = 16;

const newRequestId = (): string =>
  Array.from(globalThis.crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** Adds the given id, or keeps the id of the body, or adds a new one. */
const withRequestId = (body: object, requestId?: string | undefined): object => ({
  ...body,
  request_id: requestId || ("request_id" in body && body.request_id) || newRequestId(),
});
