// Every RPC and every route with values made from the schema: no answer says that the server failed, what is refused
// changes nothing, and nothing is kept. Other requests: LATTICE_TEST_SEED=<number>.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Message, toBinary } from "@bufbuild/protobuf";
import { type AllocationId, duration, type UserName } from "@lattice/core";
import { ProblemError, type Route, requestFromHttp, routes, serviceDefinition } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthenticator } from "../../../src/api/auth/authenticator.ts";
import { type Door, invokeStream } from "../../../src/api/invoke.ts";
import { createGate } from "../../../src/api/limits/gate.ts";
import { createApp } from "../../../src/api/rest/server.ts";
import { type RpcName, SERVICES } from "../../../src/api/rpc.ts";
import { createLiveConfig, loadConfig } from "../../../src/config/index.ts";
import type { RateLimits } from "../../../src/config/rate-limits.ts";
import { createLogger, createMetrics } from "../../../src/observe/index.ts";
import { callGrpc, callHttp, type Running, startTestApi } from "../clients.ts";
import { type MemoryPlane, memoryPlane } from "../memory-plane.ts";
import { furnish, LIVE_REQUESTS, type Submit } from "./live.ts";
import { requestFor } from "./requests.ts";
import { dice, messageFor, nameLive, type Roll } from "./values.ts";

const seed = Number(process.env.LATTICE_TEST_SEED ?? 1);
/** A slow machine takes its time. */
const WITHIN_MS = 600_000;
const REST_REQUESTS = 10_000;
const STREAM_REQUESTS = 6_500;
const GRPC_REQUESTS = 2_560;
/** Where everything begins anew: what runs is soon cancelled by a request. */
const ROUND = 250;
/** Alike in a new process and after ten thousand requests: what a request may leave behind in caches. */
const MOST_GROWTH_BYTES = 24 * 1024 * 1024;

const UNLIMITED: RateLimits = {
  ...loadConfig(null).rateLimits,
  queryMetricsPerMinute: 0,
  diagnosticsPerMinute: 0,
  comparePerMinute: 0,
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let plane: MemoryPlane;
let door: Door;
let app: FastifyInstance;

beforeAll(() => {
  plane = memoryPlane();
  const file = loadConfig(null);
  const live = createLiveConfig({ file, settings: () => plane.view().settings(), onWarning: () => {} });
  plane.onApplied = () => void live.refresh();
  const { signal } = new AbortController();
  door = {
    plane,
    config: live.config,
    logger: createLogger({ level: "silent" }),
    metrics: createMetrics(),
    authenticator: createAuthenticator(file.api.auth),
    // What a limit refuses is not tried.
    gate: createGate({ limits: () => UNLIMITED, identified: false }),
    closing: signal,
  };
  app = createApp(door);
});
afterAll(() => app.close());

const submit: Submit = async (url, body) => {
  const headers = { "x-lattice-user": "ada", "content-type": "application/json", host: "localhost" };
  const answer = await app.inject({ method: "POST", url, headers, payload: JSON.stringify(body) });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.body}`);
  return answer.json() as Record<string, unknown>;
};

let furnished = 0;
/** Something to find, unless a setting that a request has changed keeps it away. */
async function anew(of: MemoryPlane, by: Submit): Promise<void> {
  tidy(of);
  const found = await furnish(of, by).catch(() => null);
  if (found !== null) furnished += 1;
  nameLive(found?.ids ?? []);
}

/** What is live is cancelled and forgotten, so that what is kept of requests would show. */
function tidy(of: MemoryPlane): void {
  const origin = { user: "root" as UserName, requestId: null, bodyHash: "" };
  const view = of.view();
  const ids = [...view.allocations(), ...view.groups()].map(({ id }) => id as AllocationId);
  for (const id of ids) of.apply({ kind: "allocation.cancel", origin, id, reason: "" });
  of.apply({ kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(1_000) });
  of.forgetAll();
}

const where = (what: string): string => `LATTICE_TEST_SEED=${seed}: ${what}`;

test("REST: every route", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed);
  const all = routes().filter(({ kind }) => kind === "unary");
  const statuses = new Map<number, number>();
  let heap = 0;
  for (let n = 0; n < REST_REQUESTS; n += 1) {
    if (n % ROUND === 0) await anew(plane, submit);
    const route = all[n % all.length] as Route;
    const request = requestFor(roll, route);
    const before = plane.content();
    const { statusCode, body } = await app.inject(request as never);
    const what = () =>
      where(
        `${n} ${JSON.stringify({ ...request, payload: String(request.payload).slice(0, 2_000) })} gave ${statusCode} ${body.slice(0, 500)}`,
      );
    if (statusCode >= 500) throw new Error(what());
    if (statusCode >= 400 && !request.remembered && plane.content() !== before)
      throw new Error(`refused, but changed: ${what()}`);
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    if (n === Math.floor(REST_REQUESTS / 4)) heap = used();
  }
  // It reached what lies behind the doors, and was refused there for every reason there is.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(REST_REQUESTS / 10);
  for (const status of [400, 404, 409]) expect(statuses.get(status) ?? 0, `${status}`).toBeGreaterThan(20);
  tidy(plane);
  expect(used() - heap, where("memory grew")).toBeLessThan(MOST_GROWTH_BYTES);
});

function used(): number {
  tidy(plane);
  collect();
  return process.memoryUsage().heapUsed;
}

test("REST: every stream", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed + 1);
  const all = routes().filter(({ kind }) => kind === "server_stream");
  await anew(plane, submit);
  for (let n = 0; n < STREAM_REQUESTS; n += 1) await tryStream(roll, all[n % all.length] as Route, n);
});

/** As the route does it, but ended by the caller after a moment: some never end. */
async function tryStream(roll: Roll, route: Route, n: number): Promise<void> {
  const request = requestFor(roll, route);
  const url = new URL(request.url, "http://localhost");
  const gone = new AbortController();
  const before = plane.content();
  try {
    const body: unknown = request.payload === undefined ? undefined : JSON.parse(String(request.payload));
    const params = paramsOf(route, url.pathname);
    const message = requestFromHttp(route, { params, query: Object.fromEntries(url.searchParams), body });
    const arrival = {
      headers: () => undefined,
      minIndex: undefined,
      consistent: false,
      warnings: [],
      signal: gone.signal,
    };
    const source = invokeStream(door, `${route.service}.${route.method}` as RpcName, message, arrival);
    const first = source.next();
    setImmediate(() => setImmediate(() => gone.abort()));
    await first;
    await source.return(undefined);
  } catch (error) {
    if (error instanceof SyntaxError) return;
    if (!(error instanceof ProblemError) || error.problem.status >= 500) {
      throw new Error(where(`stream ${n} ${request.url} ${String(request.payload)}: ${String(error)}`), {
        cause: error,
      });
    }
  }
  expect(plane.content(), where(`stream ${n} ${request.url}`)).toBe(before);
}

function paramsOf(route: Route, pathname: string): Record<string, string> {
  const match = new RegExp(`^${route.path.replace(/:[a-z_]+/g, "([^/]+)")}$`).exec(pathname);
  return Object.fromEntries(route.params.map((name, i) => [name, decodeURIComponent(match?.[i + 1] ?? "")]));
}

test("gRPC: every unary RPC, with messages and with bytes", { timeout: WITHIN_MS }, async () => {
  const running: Running = await startTestApi();
  const byHttp: Submit = async (path, body) => {
    const headers = { "content-type": "application/json", "x-lattice-user": "ada" };
    const { status, text } = await callHttp(running, { method: "POST", path, headers, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const roll = dice(seed + 2);
  const all = SERVICES.flatMap((service) =>
    service.methods.filter(({ methodKind }) => methodKind === "unary").map((method) => ({ service, method })),
  );
  try {
    for (let n = 0; n < GRPC_REQUESTS; ) {
      if (n % 320 === 0) await anew(running.plane, byHttp);
      const batch = Array.from({ length: 32 }, () => {
        const { service, method } = all[n % all.length] as (typeof all)[number];
        n += 1;
        const rpc = `${service.name}.${method.name}`;
        const message = messageFor(roll, method.input);
        if ("destination" in message) message.destination = "/not/allowed";
        return { rpc, message, sent: roll(10) === 0 ? spoiled(roll, toBinary(method.input, message)) : message };
      });
      const before = running.plane.content();
      const answers = await Promise.all(
        batch.map(({ rpc, sent }) => callGrpc(running, rpc, sent, { "x-lattice-user": "ada" })),
      );
      for (const [i, answer] of answers.entries()) {
        if ("problem" in answer && answer.problem.status >= 500) {
          throw new Error(where(`gRPC ${batch[i]?.rpc} ${show(batch[i]?.message)}: ${JSON.stringify(answer.problem)}`));
        }
      }
      const remembered = batch.some(({ message }) => "requestId" in message && message.requestId !== "");
      const refused = answers.every((answer) => "problem" in answer);
      if (refused && !remembered) expect(running.plane.content(), where(`gRPC batch before ${n}`)).toBe(before);
    }
  } finally {
    await running.close();
  }
});

const show = (message: Message | undefined): string =>
  JSON.stringify(message, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)).slice(
    0,
    2_000,
  );

/** Cut short, or with bytes changed: it may still be a message. */
function spoiled(roll: Roll, bytes: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0 && roll(2) === 0) return copy.subarray(0, roll(copy.length));
  for (let n = 0; n < 3 && copy.length > 0; n += 1) copy[roll(copy.length)] = roll(256);
  return copy;
}

test("at least 20,000 requests are made, and every RPC is among them", () => {
  expect(furnished, "rounds with work that runs").toBeGreaterThan(3);
  expect(REST_REQUESTS + STREAM_REQUESTS + GRPC_REQUESTS + LIVE_REQUESTS).toBeGreaterThanOrEqual(20_000);
  const unary = SERVICES.flatMap((service) => Object.keys(serviceDefinition(service)));
  expect(unary.length).toBeLessThan(GRPC_REQUESTS / 10);
});
