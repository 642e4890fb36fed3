// Every RPC and every route with values generated from the schema: no answer is an internal error, a refusal changes
// nothing, and no memory leaks. LATTICE_TEST_SEED=<number> tries other requests.

import { type Message, toBinary } from "@bufbuild/protobuf";
import { type AllocationId, duration, type UserName } from "@lattice/core";
import { type Route, routes, serviceDefinition } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SERVICES } from "../../../src/api/call/rpc.ts";
import { createGate } from "../../../src/api/limits/gate.ts";
import { createApp } from "../../../src/api/rest/server.ts";
import { createAuthenticator } from "../../../src/base/auth/authenticator.ts";
import { type Config, createLiveConfig, loadConfig } from "../../../src/base/config/index.ts";
import { createLogger, createMetrics } from "../../../src/base/observe/index.ts";
import { callGrpc, callHttp, type Running, startTestApi } from "../clients.ts";
import { type MemoryPlane, memoryPlane } from "../memory-plane.ts";
import { heapUsed } from "./heap.ts";
import { furnish, type Submit } from "./live.ts";
import { formatted, requestFor } from "./requests.ts";
import { streamClient } from "./streams.ts";
import { dice, messageFor, nameLive, type Roll } from "./values.ts";

const seed = Number(process.env.LATTICE_TEST_SEED ?? 1);
/** Allows for slow machines. */
const WITHIN_MS = 600_000;
const REST_REQUESTS = 14_000;
const STREAM_REQUESTS = 3_000;
const GRPC_REQUESTS = 3_000;
/** Resets the state, since running work is soon cancelled by a request. */
const ROUND = 250;
const STREAMS_AT_ONCE = 40;
/** A multiple of what caches take after the first quarter; one to six kilobytes per remaining request. */
const MOST_GROWTH_BYTES = 12 * 1024 * 1024;

const UNLIMITED: Config["rateLimits"] = {
  ...loadConfig(null).rateLimits,
  queryMetricsPerMinute: 0,
  diagnosticsPerMinute: 0,
  comparePerMinute: 0,
  warmCachePerMinute: 0,
};

let plane: MemoryPlane;
let app: FastifyInstance;
/** Requests that were sent and answered. */
let answered = 0;

beforeAll(() => {
  plane = memoryPlane();
  const file = loadConfig(null, { api: { auto_create_tenants: true } });
  const live = createLiveConfig({ file, settings: () => plane.view().settings(), onWarning: () => {} });
  plane.onApplied = () => void live.refresh();
  const { signal } = new AbortController();
  app = createApp({
    plane,
    config: live.config,
    logger: createLogger({ level: "silent" }),
    metrics: createMetrics(),
    authenticator: createAuthenticator(file.api.auth),
    // Rate limits would hide other results, so they are off.
    gate: createGate({ limits: () => UNLIMITED, identified: false }),
    listening: new Set(),
    closing: signal,
    leader: () => null,
  });
});
afterAll(() => app.close());

const submit: Submit = async (url, body) => {
  const headers = { "x-lattice-user": "ada", "content-type": "application/json", host: "localhost" };
  const answer = await app.inject({ method: "POST", url, headers, payload: JSON.stringify(body) });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.body}`);
  return answer.json() as Record<string, unknown>;
};

let furnished = 0;
/** Creates objects, unless a changed setting prevents it. */
async function resetState(of: MemoryPlane, by: Submit): Promise<void> {
  tidy(of);
  const found = await furnish(of, by).catch(() => null);
  if (found !== null) furnished += 1;
  nameLive(found?.ids ?? []);
}

/** Cancels and removes live work, so that leaks show. */
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
    if (n % ROUND === 0) await resetState(plane, submit);
    const route = all[n % all.length] as Route;
    const request = requestFor(roll, route);
    const before = plane.content();
    const { statusCode, body } = await app.inject(request as never);
    answered += 1;
    const what = () =>
      where(
        `${n} ${JSON.stringify({ ...request, payload: String(request.payload).slice(0, 2_000) })} gave ${statusCode} ${body.slice(0, 500)}`,
      );
    if (statusCode >= 500) throw new Error(what());
    if (statusCode >= 400 && plane.content() !== before) throw new Error(`refused, but changed: ${what()}`);
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    if (n === Math.floor(REST_REQUESTS / 4)) heap = used(plane);
  }
  // Requests reached the handlers and were refused for every reason.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(REST_REQUESTS / 10);
  for (const status of [400, 404, 409]) expect(statuses.get(status) ?? 0, `${status}`).toBeGreaterThan(20);
  flat(plane, heap);
});

function used(of: MemoryPlane): number {
  tidy(of);
  return heapUsed();
}

function flat(of: MemoryPlane, before: number): void {
  expect(used(of) - before, where("memory grew")).toBeLessThan(MOST_GROWTH_BYTES);
}

const MANY = {
  query_metrics_per_minute: 0,
  diagnostics_per_minute: 0,
  compare_per_minute: 0,
  warm_cache_per_minute: 0,
  stream_logs_max_concurrent: 1_000,
  stream_metrics_max_concurrent: 1_000,
};

const submitTo =
  (running: Running): Submit =>
  async (path, body) => {
    const headers = { "content-type": "application/json", "x-lattice-user": "ada" };
    const { status, text } = await callHttp(running, { method: "POST", path, headers, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };

test("REST: every stream, as events, lines and bytes, over HTTP", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed + 1);
  const all = routes().filter(({ kind }) => kind === "server_stream");
  const running = await startTestApi({ rate_limits: MANY });
  const client = streamClient(running.rest, STREAMS_AT_ONCE);
  const statuses = new Map<number, number>();
  let heap = 0;
  try {
    await resetState(running.plane, submitTo(running));
    for (let n = 0; n < STREAM_REQUESTS; n += STREAMS_AT_ONCE) {
      const batch = Array.from({ length: STREAMS_AT_ONCE }, (_, i) =>
        formatted(roll, requestFor(roll, all[(n + i) % all.length] as Route)),
      );
      const before = running.plane.content();
      await Promise.all(
        batch.map(async (request) => {
          const { status, text } = await client.ask(request, roll(2) === 0 ? "at once" : "later");
          answered += 1;
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status >= 500 || /"status":5\d\d/.test(text))
            throw new Error(
              where(`stream ${request.url} ${String(request.payload)} gave ${status} ${text.slice(0, 500)}`),
            );
        }),
      );
      // Streams change nothing, refused or not.
      expect(running.plane.content(), where(`streams ${n}: ${batch.map(({ url }) => url).join(" ")}`)).toBe(before);
      if (heap === 0 && n >= STREAM_REQUESTS / 4) heap = heapUsed();
    }
    for (const status of [200, 400, 404]) expect(statuses.get(status) ?? 0, `${status}`).toBeGreaterThan(100);
    flat(running.plane, heap);
  } finally {
    client.close();
    await running.close();
  }
});

test("gRPC: every unary RPC, with messages and with bytes", { timeout: WITHIN_MS }, async () => {
  const running = await startTestApi({ rate_limits: MANY });
  const roll = dice(seed + 2);
  const all = SERVICES.flatMap((service) =>
    service.methods.filter(({ methodKind }) => methodKind === "unary").map((method) => ({ service, method })),
  );
  let heap = 0;
  let served = 0;
  try {
    for (let n = 0; n < GRPC_REQUESTS; n += 1) {
      if (n % ROUND === 0) await resetState(running.plane, submitTo(running));
      if (heap === 0 && n >= GRPC_REQUESTS / 4) heap = used(running.plane);
      const { service, method } = all[n % all.length] as (typeof all)[number];
      const rpc = `${service.name}.${method.name}`;
      const message = messageFor(roll, method.input);
      if ("destination" in message) message.destination = "/not/allowed";
      const sent = roll(10) === 0 ? spoiled(roll, toBinary(method.input, message)) : message;
      const before = running.plane.content();
      const answer = await callGrpc(running, rpc, sent, { "x-lattice-user": "ada" });
      answered += 1;
      if (!("problem" in answer)) {
        served += 1;
        continue;
      }
      const what = () => where(`gRPC ${n} ${rpc} ${show(message)}: ${JSON.stringify(answer.problem)}`);
      if (answer.problem.status >= 500) throw new Error(what());
      if (running.plane.content() !== before) throw new Error(`refused, but changed: ${what()}`);
    }
    expect(served).toBeGreaterThan(GRPC_REQUESTS / 10);
    flat(running.plane, heap);
  } finally {
    await running.close();
  }
});

const show = (message: Message | undefined): string =>
  JSON.stringify(message, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)).slice(
    0,
    2_000,
  );

/** Truncated or modified bytes; they may still be a valid message. */
function spoiled(roll: Roll, bytes: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0 && roll(2) === 0) return copy.subarray(0, roll(copy.length));
  for (let n = 0; n < 3 && copy.length > 0; n += 1) copy[roll(copy.length)] = roll(256);
  return copy;
}

test("at least 20,000 requests were answered, and every RPC was among them", () => {
  expect(furnished, "rounds with work that runs").toBeGreaterThan(3);
  expect(answered).toBeGreaterThanOrEqual(20_000);
  const unary = SERVICES.flatMap((service) => Object.keys(serviceDefinition(service)));
  expect(unary.length).toBeLessThan(GRPC_REQUESTS / 10);
});
