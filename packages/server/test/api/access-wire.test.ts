// Every route and every RPC as they are served, over HTTP and over gRPC, WebSockets and streams among them: with every role, on one's
// own things, a colleague's and a stranger's, with tokens of another tenant, with those that were made to do less, with a job's and an
// agent's, and with none that counts. What is answered is what the table says.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthenticator } from "../../src/api/auth/authenticator.ts";
import { createGate } from "../../src/api/limits/gate.ts";
import { addPages } from "../../src/api/rest/pages.ts";
import { createApp } from "../../src/api/rest/server.ts";
import { createLogger } from "../../src/observe/index.ts";
import { callHttp, type Running, startTestApi } from "./clients.ts";
import { OWNERS, SECRET, tokenOf } from "./walk.ts";
import { type Caller, callersOf } from "./walk-callers.ts";
import { type Doors, openDoors } from "./walk-doors.ts";
import { changes, grpcWays, type Row, restWays, rowsOf, socketWays, type Way, wrongWith } from "./walk-rows.ts";

const AT_ONCE = 24;
/** Of what is wrong: more says no more. */
const MOST_SHOWN = 20;
/** A slow machine takes its time. */
const WITHIN_MS = 600_000;
const UNLIMITED = {
  user_requests_per_second: 0,
  tenant_requests_per_second: 0,
  diagnostics_per_minute: 0,
  query_metrics_per_minute: 0,
  compare_per_minute: 0,
  attach_max_concurrent: 10_000,
  stream_logs_max_concurrent: 10_000,
  stream_metrics_max_concurrent: 10_000,
  watch_max_concurrent: 10_000,
  proxy_max_concurrent: 10_000,
};

let running: Running;
let service: Server;
let doors: Doors;
let callers: readonly Caller[];
let pages: readonly string[];
let served: readonly string[];

beforeAll(async () => {
  process.env.LATTICE_WIRE_SECRET = SECRET;
  service = createServer((_request, response) => response.end());
  service.on("upgrade", (_request: IncomingMessage, socket) =>
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"),
  );
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const api = { oidc_hmac_secret: "env://LATTICE_WIRE_SECRET", oidc_leeway_seconds: 0 };
  running = await startTestApi({ api, rate_limits: UNLIMITED });
  await furnish();
  doors = openDoors(running, AT_ONCE);
  callers = await callersOf(createAuthenticator(running.config.api.auth), "1");
  [pages, served] = await servedRoutes();
});
afterAll(async () => {
  doors.close();
  service.closeAllConnections();
  service.close();
  await running.close();
});

/** For each owner a service that runs, with a session, and a workflow. */
async function furnish(): Promise<void> {
  const { plane } = running;
  const { port } = service.address() as AddressInfo;
  for (const [i, owner] of OWNERS.entries()) {
    const headers = { authorization: `Bearer ${await tokenOf(owner, "User")}`, "content-type": "application/json" };
    const submit = async (path: string, body: object): Promise<string> => {
      const { status, text } = await callHttp(running, { method: "POST", path, headers, body: JSON.stringify(body) });
      if (status !== 200) throw new Error(`${path}: ${text}`);
      return String((JSON.parse(text) as { readonly id?: string }).id);
    };
    // The first has the same name in every tenant, and is only looked up.
    const expose = [
      { name: "walk", port: 8_000 },
      { name: `of-${owner}`, port },
    ];
    const id = await submit("/api/v1/allocations", { entrypoint: "serve", connectivity: { expose } });
    plane.addNode(`n${i + 1}`);
    plane.start(id, [`n${i + 1}`]);
    await submit("/api/v1/sessions", { allocation_id: id });
    await submit("/api/v1/dags", { allocations: [{ name: "a", entrypoint: "true" }] });
  }
  const data = new TextEncoder().encode("said");
  plane.output = async function* () {
    yield { data, offset: data.length };
  };
  plane.screen = async function* () {
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: data } });
  };
}

/** Of the application itself, and of its pages alone. */
async function servedRoutes(): Promise<[readonly string[], readonly string[]]> {
  const { plane, config, metrics } = running;
  const gate = createGate({ limits: () => config.rateLimits, identified: true });
  const authenticator = createAuthenticator(config.api.auth);
  const logger = createLogger({ level: "silent" });
  const closing = new AbortController().signal;
  const door = { plane, config, logger, metrics, authenticator, gate, closing };
  const app = createApp(door);
  await app.ready();
  const own = addPages({ route: () => undefined } as never, door).map(({ method, path }) => `${method} ${path}`);
  return [own, routesIn(app.printRoutes({ commonPrefix: false }))];
}

/** "GET /api/v1/allocations/:p", of a tree that is drawn with four columns to a level. */
function routesIn(tree: string): readonly string[] {
  const above: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] = /^(.*?)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    above.length = indent.length / 4;
    above.push(part);
    return methods === "" ? [] : methods.split(", ").map((method) => plain(`${method} ${above.join("")}`));
  });
}

const plain = (route: string): string =>
  route
    .replace(/\?.*$/, "")
    .replace("::", ":")
    .replace(/\/:[a-z_|:]+/g, "/:p")
    .replace(/\/proxy(?:\/\S*|\*)$/, "/proxy/*");

test("the walk knows every route that is served", () => {
  const walked = new Set(restWays(doors, running.plane, pages).map(({ name }) => plain(name)));
  expect([...walked].sort()).toEqual([...new Set(served)].sort());
  expect(served.length).toBeGreaterThan(230);
});

/** Those that change nothing many at once; each of the others finds what the first has found. */
async function walk(ways: readonly Way[]): Promise<number> {
  const { plane } = running;
  const before = plane.hash();
  const rows = rowsOf(ways, callers);
  const wrong: string[] = [];
  let answered = 0;
  const ask = async (row: Row): Promise<void> => {
    const said = wrongWith(row, await row.way.ask(row.owner, row.caller.token));
    answered += 1;
    if (said !== null) wrong.push(said);
  };
  const quiet = rows.filter((row) => !changes(row)).values();
  const worker = async (): Promise<void> => {
    for (const row of quiet) await ask(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(wrong.slice(0, MOST_SHOWN)).toEqual([]);
  expect(plane.hash(), "what is refused, and what is read, changes nothing").toBe(before);
  const putBack = plane.keep();
  const { index } = plane.view();
  for (const row of rows.filter(changes)) {
    await ask(row);
    if (plane.view().index !== index) putBack();
  }
  expect(wrong.slice(0, MOST_SHOWN)).toEqual([]);
  expect(plane.hash()).toBe(before);
  expect(answered).toBe(rows.length);
  return answered;
}

test("REST", { timeout: WITHIN_MS }, async () => {
  expect(await walk(restWays(doors, running.plane, pages))).toBeGreaterThanOrEqual(7_000);
});

test("WebSockets", { timeout: WITHIN_MS }, async () => {
  expect(await walk(socketWays(doors, running.plane))).toBeGreaterThanOrEqual(240);
});

test("gRPC", { timeout: WITHIN_MS }, async () => {
  expect(await walk(grpcWays(doors, running.plane))).toBeGreaterThanOrEqual(2_400);
});
