// One call over the transport: address, headers, retries and errors. It remembers the log index of its last change and
// sends it with every call, so that a client reads its own writes through any server.

import { problem, type WebSocketConnection } from "@lattice/wire";
import { errorFromAnswer, errorFromTransport, LatticeError } from "./error.ts";
import { RetryableAnswer, type RetryPolicy, withRetries } from "./retry.ts";
import { bearerHeader, bearing, type TokenSource } from "./token.ts";
import {
  type HttpRequest,
  type HttpResponse,
  readText,
  type Transport,
  TransportError,
} from "./transport/transport.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** `requestId` makes a change idempotent for 24 hours, also across clients. Default: a new id for each call. */
export interface ChangeOptions extends CallOptions {
  readonly requestId?: string | undefined;
}

interface Call {
  readonly method: HttpRequest["method"];
  /** Absolute path with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Whether a repetition is safe, as with a request id. Default: only for reads. */
  readonly repeatable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Caller {
  json<T>(call: Call, options?: CallOptions): Promise<T>;
  /** Returns the response with its body unread. `idleTimeoutMs` 0: no idle timeout. */
  open(call: Call, options: CallOptions & { readonly idleTimeoutMs: number }): Promise<HttpResponse>;
  /** Adds further servers of the same cluster as alternatives. */
  learn(urls: readonly string[]): void;
  /** Opens a WebSocket at this path and query. */
  webSocket(path: string, options: CallOptions): Promise<OpenedWebSocket>;
}

export interface OpenedWebSocket {
  readonly connection: WebSocketConnection;
  /** The token that the connection was opened with. */
  readonly token: string | undefined;
  /** Returns the current token, for a connection that outlives the first one; null when the token is fixed. */
  readonly newer: TokenSource | null;
}

interface CallerSettings {
  /** Servers of one cluster, at least one. The next one is used when one is unreachable or cannot serve. */
  readonly baseUrls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** `null`: any cluster. */
  readonly clusterId: string | null;
  readonly token: TokenSource;
  /** False when the token may change while the client is in use. */
  readonly tokenIsFixed: boolean;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly transport: Transport;
  readonly openWebSocket: OpenWebSocket;
}

export function createCaller(settings: CallerSettings): Caller {
  let leastIndex = 0n;
  let turn = 0;
  const baseUrls = [...settings.baseUrls];
  const baseUrl = (): string => baseUrls[turn % baseUrls.length] ?? "";
  /** When several calls fail together at one server, only the first switches to the next. */
  const pass = (failed: string): void => {
    if (failed === baseUrl()) turn += 1;
  };

  const once = (call: Call, options: Sending): Promise<HttpResponse> =>
    bearing(settings.token, (token) => send(call, options, token));

  const send = async (call: Call, options: Sending, token: string | undefined): Promise<HttpResponse> => {
    const server = baseUrl();
    const request = settings.transport({
      method: call.method,
      url: server + call.path,
      headers: { ...headersOf(settings, call, leastIndex), ...bearerHeader(token) },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: options.signal,
      idleTimeoutMs: options.idleTimeoutMs,
    });
    const response = await request.catch((error: unknown) => {
      if (error instanceof TransportError && error.kind !== "aborted") pass(server);
      throw error;
    });
    if (response.status >= 200 && response.status < 300) return ofCluster(settings.clusterId, response, server);
    const error = errorFromAnswer(response.status, await readText(response.body));
    const tooOften = response.status === 429;
    if (response.status === 503) pass(server);
    if ((tooOften || response.status === 503) && error.problem.retryable)
      throw new RetryableAnswer(error, { afterMs: retryAfterMs(response), undone: tooOften });
    throw error;
  };

  const attempt = async <T>(call: Call, options: CallOptions, run: () => Promise<T>): Promise<T> => {
    const answers = new Map<string, Error>();
    const noted = async (): Promise<T> => {
      const server = baseUrl();
      try {
        return await run();
      } catch (error) {
        if (error instanceof RetryableAnswer) answers.set(server, error.answer);
        else answers.delete(server);
        throw error;
      }
    };
    try {
      const repeatable = call.repeatable ?? call.method === "GET";
      return await withRetries(noted, { policy: settings.retry, repeatable, signal: options.signal });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw mostTelling(error, answers) ?? errorFromTransport(error, baseUrls.join(", "));
    }
  };

  return {
    open: async (call, options) => {
      const response = await attempt(call, options, () => once(call, options));
      return { ...response, body: readAsProblems(response.body, baseUrls.join(", ")) };
    },
    learn(urls) {
      // A server reached over TLS must not be replaced by one without.
      const scheme = schemeOf(baseUrl());
      for (const url of urls) if (schemeOf(url) === scheme && !baseUrls.includes(url)) baseUrls.push(url);
    },
    webSocket: async (path, options) => {
      const request = (token: string | undefined) => ({
        url: baseUrl() + path,
        headers: {
          ...settings.headers,
          ...bearerHeader(token),
          ...(leastIndex > 0n ? { "x-lattice-min-index": String(leastIndex) } : {}),
        },
        signal: options.signal,
        timeoutMs: options.timeoutMs ?? settings.timeoutMs,
      });
      return attempt({ method: "GET", path, repeatable: false }, options, async () => {
        const server = baseUrl();
        const newer = settings.tokenIsFixed ? null : settings.token;
        try {
          return await bearing(settings.token, async (token) => ({
            connection: await settings.openWebSocket(request(token)),
            token,
            newer,
          }));
        } catch (error) {
          if (error instanceof TransportError && error.kind === "unreachable") pass(server);
          throw error;
        }
      });
    },
    json: <T>(call: Call, options: CallOptions = {}) =>
      attempt(call, options, async () => {
        const response = await once(call, { ...options, idleTimeoutMs: options.timeoutMs ?? settings.timeoutMs });
        const text = await readText(response.body);
        const value = JSON.parse(text === "" ? "{}" : text) as T & { readonly log_index?: string };
        if (call.method !== "GET" && value.log_index !== undefined && /^\d+$/.test(value.log_index)) {
          const index = BigInt(value.log_index);
          if (index > leastIndex) leastIndex = index;
        }
        return value as T;
      }),
  };
}

/** The identities of the sender's cluster and of the empty clusters into which it was restored, separated by commas. */
export const CLUSTER_HEADER = "x-lattice-cluster";

/** Throws when the answer is of another cluster. Servers compare as well, and refuse the call before it changes anything. */
function ofCluster(expected: string | null, response: HttpResponse, server: string): HttpResponse {
  const named = response.headers[CLUSTER_HEADER];
  if (expected === null || named === undefined || named.split(",").includes(expected)) return response;
  const detail = `the server at ${server} belongs to cluster ${named.split(",")[0]}, this client to cluster ${expected}`;
  throw new LatticeError(problem("foreign_cluster", { detail }), response.status);
}

/** The refusal of a server says more than the failure to reach another one. `answers`: the last one of each server. */
const mostTelling = (last: TransportError, answers: ReadonlyMap<string, Error>): Error | null =>
  last.kind === "unreachable" ? ([...answers.values()].at(-1) ?? null) : null;

type Sending = CallOptions & { readonly idleTimeoutMs: number };

const schemeOf = (url: string): string => url.slice(0, url.indexOf(":"));

/** Converts the failure of a stream to a problem, as for a call. */
async function* readAsProblems(body: HttpResponse["body"], baseUrl: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw error instanceof TransportError ? errorFromTransport(error, baseUrl) : error;
  }
}

function headersOf(settings: CallerSettings, call: Call, leastIndex: bigint): Record<string, string> {
  return {
    accept: "application/json",
    ...settings.headers,
    ...(call.body === undefined ? {} : { "content-type": "application/json" }),
    ...(leastIndex > 0n ? { "x-lattice-min-index": String(leastIndex) } : {}),
    ...call.headers,
  };
}

/** Parses `Retry-After` in seconds; 0 when absent. */
function retryAfterMs(response: HttpResponse): number {
  const seconds = Number(response.headers["retry-after"] ?? "0");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
