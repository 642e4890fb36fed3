// The client: every call of the services over REST, and terminals over WebSocket. It holds no state besides open
// connections and the log index of its last change, and may be shared by many callers.

import { problem } from "@lattice/wire";
import { type ConfigCalls, type EventCalls, type GeneratedClient, generatedClient } from "../gen/calls.ts";
import type { ConfigResponse } from "../gen/types.ts";
import { type AllocationStreams, allocationStreams } from "./allocation-streams.ts";
import { type Caller, type CallOptions, type ChangeOptions, CLUSTER_HEADER, createCaller } from "./call.ts";
import { LatticeError } from "./error.ts";
import { type EventStream, eventStream } from "./event-stream.ts";
import { queryString } from "./query.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "./retry.ts";
import { keepShown } from "./shown-token.ts";
import { type TaskCalls, taskCalls } from "./tasks.ts";
import { type AttachOptions, checkedSize, type Terminal, terminalOver } from "./terminal.ts";
import { sourceOf, type TokenSource } from "./token.ts";
import { readText, type Transport } from "./transport/transport.ts";
import type { OpenWebSocket } from "./transport/web-socket.ts";

export interface ClientOptions {
  /** For example "http://127.0.0.1:8080". Several servers of a cluster are separated by commas; any reachable one serves. */
  readonly url: string;
  /** The user, on a cluster without authentication. */
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
  /**
   * The identity of the cluster, from `lattice admin raft status`. Servers of another cluster then refuse every call with
   * `foreign_cluster`, and so does the client where a server does not. Default: any cluster.
   */
  readonly clusterId?: string | undefined;
  /** Bearer token, on a cluster with authentication; a function is called before every request. */
  readonly token?: string | TokenSource | undefined;
  /** Longest wait for an answer. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  readonly transport?: Transport | undefined;
}

export interface Health {
  readonly status: string;
  readonly [detail: string]: unknown;
}

export interface LatticeClient extends Omit<GeneratedClient, "config" | "events">, AllocationStreams {
  readonly url: string;
  readonly config: ConfigCalls & ConfigReset;
  readonly events: EventCalls & EventStream;
  readonly tasks: TaskCalls;
  /** Opens a terminal in a running allocation. */
  attach(id: string, options?: AttachOptions): Promise<Terminal>;
  health(options?: CallOptions): Promise<Health>;
  /** Returns the server's metrics in the text format of Prometheus. */
  metricsText(options?: CallOptions): Promise<string>;
  /** Returns whether and how to log in. Needs no token. */
  discovery(options?: CallOptions): Promise<object>;
  /** Returns when the server is serving and caught up; rejects with the server's problem otherwise. */
  ready(options?: CallOptions): Promise<Health>;
}

interface ConfigReset {
  /** Returns a setting to the value of each server's configuration file. */
  reset(key: string, options?: ChangeOptions): Promise<ConfigResponse>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** The parts that differ between Node and browsers. */
interface Platform {
  readonly transport: Transport;
  readonly openWebSocket: OpenWebSocket;
}

export function createClientOn(platform: Platform, options: ClientOptions): LatticeClient {
  const urls = options.url.split(",").map((url) => normaliseUrl(url.trim()));
  const [url = ""] = urls;
  const caller = createCaller({
    baseUrls: urls,
    headers: identityHeaders(options),
    clusterId: checkedClusterId(options.clusterId),
    token: sourceOf(options.token),
    tokenIsFixed: typeof options.token !== "function",
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    transport: options.transport ?? platform.transport,
    openWebSocket: platform.openWebSocket,
  });
  const calls = generatedClient(caller);
  const get = <T>(path: string, callOptions?: CallOptions) => caller.json<T>({ method: "GET", path }, callOptions);
  return {
    ...calls,
    ...allocationStreams(caller),
    url,
    config: { ...calls.config, reset: (key, change) => calls.config.set(key, undefined, { ...change, reset: true }) },
    events: { ...calls.events, ...eventStream(caller) },
    tasks: taskCalls(caller),
    attach: (id, attachOptions) => attachTo(caller, id, attachOptions),
    discovery: (callOptions) => get("/api/v1/auth/discovery", callOptions),
    health: (callOptions) => get("/healthz", callOptions),
    metricsText: (callOptions) => metricsText(caller, callOptions),
    ready: (callOptions) => get("/readyz", callOptions),
  };
}

async function metricsText(caller: Caller, options: CallOptions = {}): Promise<string> {
  const call = { method: "GET", path: "/metrics", headers: { accept: "text/plain" } } as const;
  const response = await caller.open(call, { ...options, idleTimeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS });
  return readText(response.body);
}

/** `host:port` means http; a trailing slash is dropped. */
export function normaliseUrl(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  return withScheme.replace(/\/+$/, "");
}

function identityHeaders(options: ClientOptions): Record<string, string> {
  return {
    ...(options.user === undefined ? {} : { "x-lattice-user": headerText(options.user) }),
    ...(options.tenant === undefined ? {} : { "x-lattice-tenant": headerText(options.tenant) }),
    ...(options.clusterId === undefined ? {} : { [CLUSTER_HEADER]: options.clusterId }),
  };
}

function checkedClusterId(id: string | undefined): string | null {
  if (id === undefined) return null;
  if (/^[0-9a-f]{32}$/.test(id)) return id;
  throw new LatticeError(problem("invalid_argument", { detail: `clusterId: "${id}" is not 32 hexadecimal digits` }), 0);
}

/** A header carries ASCII only; other names travel percent-encoded, and the server decodes them. */
const headerText = (text: string): string => (/^[!-$&-~]*$/.test(text) ? text : encodeURIComponent(text));

/** Opens a terminal; rejects with the server's problem. */
async function attachTo(caller: Caller, id: string, options: AttachOptions = {}): Promise<Terminal> {
  const { node, command, term } = options;
  const size = options.size === undefined ? undefined : checkedSize(options.size);
  const query = queryString({ node, command, rows: size?.rows, cols: size?.cols, term });
  const opened = await caller.webSocket(`/api/v1/allocations/${encodeURIComponent(id)}/attach${query}`, options);
  keepShown(opened);
  return terminalOver(opened.connection);
}
