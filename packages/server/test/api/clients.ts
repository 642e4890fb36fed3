// A running API over a memory plane, and two clients whose answers tests compare: both take an RPC with a message and
// return JSON or a problem.

import { request as httpRequest } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  GRPC_DETAILS_TRAILER,
  type Json,
  type MethodDefinition,
  type Problem,
  problemFromGrpc,
  problemFromJson,
  type Route,
  routes,
  serviceDefinition,
  toJson,
} from "@lattice/wire";
import { SERVICES } from "../../src/api/call/rpc.ts";
import { type RunningApi, startApi } from "../../src/api/index.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { type Config, type ConfigOverrides, createLiveConfig, loadConfig } from "../../src/base/config/index.ts";
import { createLogger, createMetrics, type Logger, type Metrics } from "../../src/base/observe/index.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";
import { counting } from "./proven-calls.ts";

export interface Running {
  readonly plane: MemoryPlane;
  readonly api: RunningApi;
  readonly metrics: Metrics;
  readonly config: Config;
  readonly rest: string;
  readonly grpc: Client;
  close(): Promise<void>;
}

/** `logger`: for tests that read log lines. */
export async function startTestApi(
  overrides: ConfigOverrides = {},
  logger: Logger = createLogger({ level: "silent" }),
): Promise<Running> {
  const plane = memoryPlane();
  const metrics = counting(createMetrics());
  const config = loadConfig(null, {
    ...overrides,
    // Most tests need tenants and requests by name only.
    scheduling: { impossible_requests: "warn", ...overrides.scheduling },
    api: { rest_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0", auto_create_tenants: true, ...overrides.api },
  });
  const authenticator = createAuthenticator(config.api.auth);
  const live = createLiveConfig({ file: config, settings: () => plane.view().settings(), onWarning: () => {} });
  plane.onApplied = () => void live.refresh();
  const api = await startApi({ plane, config: live.config, logger, metrics, authenticator });
  const grpc = new Client(api.grpcAddress, credentials.createInsecure(), {
    "grpc.max_send_message_length": -1,
    "grpc.max_receive_message_length": -1,
  });
  const close = async () => {
    grpc.close();
    await api.close();
  };
  return { plane, api, metrics, config, rest: `http://${api.restAddress}`, grpc, close };
}

export type Answer = { readonly json: Json } | { readonly problem: Problem };

export function methodOf(rpc: string): MethodDefinition {
  const [service, name] = rpc.split(".");
  const desc = SERVICES.find((s) => s.name === service);
  const method = desc === undefined ? undefined : serviceDefinition(desc)[name ?? ""];
  if (method === undefined) throw new Error(`no RPC ${rpc}`);
  return method;
}

export function routeOf(rpc: string): Route {
  const route = routes().find((r) => `${r.service}.${r.method}` === rpc && !r.alias);
  if (route === undefined) throw new Error(`no route for ${rpc}`);
  return route;
}

export function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

export const problemOfService = (error: ServiceError): Problem =>
  problemFromGrpc({
    code: error.code,
    message: error.details,
    detailsBin: error.metadata.get(GRPC_DETAILS_TRAILER)[0] as Buffer | undefined,
  });

/** `bytes`: raw bytes instead of a message. */
export function callGrpc(
  running: Running,
  rpc: string,
  message: Message | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const method = methodOf(rpc);
  const serialise = (m: Message | Buffer) => (Buffer.isBuffer(m) ? m : method.requestSerialize(m));
  return new Promise((resolve) => {
    running.grpc.makeUnaryRequest(
      method.path,
      serialise,
      (bytes) => method.responseDeserialize(bytes),
      message,
      metadataOf(headers),
      (error, answer) => {
        if (error !== null) resolve({ problem: problemOfService(error) });
        else resolve({ json: toJson(routeOf(rpc).rpc.output, answer as Message) });
      },
    );
  });
}

export async function* streamGrpc(
  running: Running,
  rpc: string,
  message: Message,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<Message> {
  const method = methodOf(rpc);
  const call = running.grpc.makeServerStreamRequest(
    method.path,
    (m: Message) => method.requestSerialize(m),
    (bytes) => method.responseDeserialize(bytes),
    message,
    metadataOf(headers),
  );
  signal?.addEventListener("abort", () => call.cancel(), { once: true });
  yield* call as AsyncIterable<Message>;
}

export interface RestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Plain HTTP, since fetch refuses some of these requests. */
export function callHttp(
  running: Running,
  { method = "GET", path, headers = {}, body }: RestRequest,
): Promise<RestAnswer> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const request = httpRequest(`${running.rest}${path}`, { method, headers, agent: false }, (response) => {
      answered = true;
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(parts).toString("utf8"),
        }),
      );
      response.on("error", reject);
    });
    // A refused body may break the sending side; only the answer counts.
    request.on("error", (error) => {
      if (!answered) reject(error);
    });
    request.end(body);
  });
}

/** Opens a WebSocket and closes it; the status is 101 on success. */
export function upgradeHttp(
  { rest }: Pick<Running, "rest">,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const asking = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
  };
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${rest}${path}`, { agent: false, headers: { ...asking, ...headers } });
    asked.on("response", (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, text: "" });
    });
    asked.on("error", reject);
    asked.end();
  });
}

export async function callRest(running: Running, request: RestRequest): Promise<Answer> {
  const { status, text } = await callHttp(running, request);
  const json = JSON.parse(text) as Json;
  return status < 400 ? { json } : { problem: problemFromJson(json, status) };
}

/** The same message over REST: path parameters, query or body by the route. */
export const restOf = (rpc: string, message: Message): RestRequest => restOn(routeOf(rpc), message);

export function restOn(route: Route, message: Message): RestRequest {
  const json = { ...(toJson(route.rpc.input, message) as Record<string, Json>) };
  let path = route.path;
  for (const name of route.params) {
    path = path.replace(`:${name}`, encodeURIComponent(String(json[name])));
    delete json[name];
  }
  path = path.replace("::", ":");
  if (route.body === "*")
    return {
      method: route.httpMethod,
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(json),
    };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(json)) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== "" && one !== 0) query.append(name, String(one));
  }
  return { method: route.httpMethod, path: query.size === 0 ? path : `${path}?${query}` };
}
