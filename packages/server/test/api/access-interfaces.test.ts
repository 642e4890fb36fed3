// Access over interfaces other than plain calls: a terminal over gRPC, both WebSockets, services and their WebSockets,
// with every role, on one's own objects, a colleague's and another tenant's; and REST streams with slow authentication.
// access-wire.test.ts covers every route with every role.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { create, type Message } from "@bufbuild/protobuf";
import type { TenantId } from "@lattice/core";
import { pb, routes } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reaches } from "../../src/api/access/authorize.ts";
import { PROXY_NAME } from "../../src/api/access/rules.ts";
import { createGate } from "../../src/api/limits/gate.ts";
import { STREAM_START_GRACE_MS } from "../../src/api/limits/limits.ts";
import { createApp } from "../../src/api/rest/server.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { type Headers, type Principal, ROLES } from "../../src/base/auth/principal.ts";
import { createLogger } from "../../src/base/observe/index.ts";
import {
  callHttp,
  metadataOf,
  methodOf,
  problemOfService,
  type Running,
  restOn,
  startTestApi,
  upgradeHttp,
} from "./clients.ts";
import { OWNERS, type Owner, RPCS, requestFor, SECRET, sign, TENANT, target, tokenOf } from "./walk.ts";

const NO_LIMITS = { user_requests_per_second: 0, tenant_requests_per_second: 0 };
const AUTH = { oidc_hmac_secret: "env://LATTICE_DOORS_SECRET", oidc_leeway_seconds: 0 };
let running: Running;
let service: Server;
let opened = 0;
let served = 0;

/** Allocation n and the service of owner n, on node n. */
const idOf = (owner: Owner): string => String(OWNERS.indexOf(owner) + 1);

beforeAll(async () => {
  process.env.LATTICE_DOORS_SECRET = SECRET;
  service = createServer((_request, response) => {
    served += 1;
    response.end("served");
  });
  service.on("upgrade", (_request: IncomingMessage, socket) => {
    served += 1;
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n");
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  running = await startTestApi({ api: AUTH, rate_limits: NO_LIMITS });
  for (const owner of OWNERS) {
    running.plane.addNode(`n${idOf(owner)}`);
    const body = JSON.stringify({ entrypoint: "serve", connectivity: { expose: [{ name: `of-${owner}`, port }] } });
    const answer = await callHttp(running, {
      method: "POST",
      path: "/api/v1/allocations",
      headers: { ...(await bearer(owner)), "content-type": "application/json" },
      body,
    });
    expect(answer.status, answer.text).toBe(200);
    running.plane.start(idOf(owner), [`n${idOf(owner)}`]);
  }
  running.plane.screen = async function* () {
    opened += 1;
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: new Uint8Array([36]) } });
  };
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await running.close();
});

const bearer = async (owner: Owner) => ({ authorization: `Bearer ${await tokenOf(owner, "User")}` });
const headersOf = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** "ok", or the code of the problem. */
type Endpoint = (token: string | null, owner: Owner) => Promise<string>;

const byGrpc: Endpoint = (token, owner) =>
  new Promise((resolve) => {
    const method = methodOf("SessionService.Attach");
    const call = running.grpc.makeBidiStreamRequest<Message, Message>(
      method.path,
      (message) => method.requestSerialize(message),
      (bytes) => method.responseDeserialize(bytes),
      metadataOf(headersOf(token)),
    );
    call.on("data", () => resolve("ok"));
    call.on("error", (error) => resolve(problemOfService(error as never).code));
    call.write(
      create(pb.AttachRequestSchema, { message: { case: "start", value: { id: idOf(owner), size: undefined } } }),
    );
  });

const upgrading =
  (path: (owner: Owner) => string): Endpoint =>
  async (token, owner) => {
    const { status, text } = await upgradeHttp(running, path(owner), headersOf(token));
    return status === 101 ? "ok" : (JSON.parse(text) as { code: string }).code;
  };

const passing: Endpoint = async (token, owner) => {
  const path = `/api/v1/services/of-${owner}/proxy/`;
  const { status, text } = await callHttp(running, { path, headers: headersOf(token) });
  return status === 200 ? "ok" : (JSON.parse(text) as { code: string }).code;
};

const attaches = (who: Principal, owner: Owner): boolean => reaches(who, "SessionService.Attach", target(owner));
const proxies = (who: Principal, owner: Owner): boolean =>
  reaches(who, PROXY_NAME, { tenant: TENANT[owner] as TenantId, user: null });

const ENDPOINTS: readonly [string, Endpoint, typeof attaches, readonly string[]][] = [
  ["a terminal by gRPC", byGrpc, attaches, ["forbidden", "not_owner"]],
  ["its WebSocket", upgrading((o) => `/api/v1/allocations/${idOf(o)}/attach`), attaches, ["forbidden", "not_owner"]],
  ["a session's", upgrading((o) => `/v1/sessions/${idOf(o)}.1/terminal`), attaches, ["forbidden", "not_owner"]],
  ["a service", passing, proxies, ["unknown_service"]],
  ["a service's WebSocket", upgrading((o) => `/api/v1/services/of-${o}/proxy/ws`), proxies, ["unknown_service"]],
];

describe.each(ENDPOINTS)("%s", (_, endpoint, may, refusals) => {
  test.each(ROLES)("%s reaches what the table says", async (role) => {
    for (const caller of ["ada", "eve"] as const) {
      const token = await tokenOf(caller, role);
      const who = await createAuthenticator(running.config.api.auth).authenticate((name) => headersOf(token)[name]);
      for (const owner of OWNERS) {
        const before = opened + served;
        const answer = await endpoint(token, owner);
        expect([caller, owner, answer === "ok"]).toEqual([caller, owner, may(who, owner)]);
        if (answer === "ok") continue;
        expect(refusals).toContain(answer);
        expect(opened + served).toBe(before);
      }
    }
  });

  test("no token, an expired one, another key and a narrow scope are refused", async () => {
    const before = opened + served;
    for (const token of await strangers()) expect(await endpoint(token, "ada")).toBe("unauthenticated");
    const reader = await sign({ sub: "ada", tenant: "physics", scope: "allocations:read" });
    expect(refusals).toContain(await endpoint(reader, "ada"));
    const agent = await sign({ sub: "ada", tenant: "physics", scope: "agent" });
    expect(refusals).toContain(await endpoint(agent, "ada"));
    expect(opened + served).toBe(before);
  });
});

async function strangers(): Promise<(string | null)[]> {
  const claims = { sub: "ada", tenant: "physics", scope: "admin" };
  return [null, await sign(claims, Math.floor(Date.now() / 1_000) - 60), await sign(claims, "5m", `not ${SECRET}`)];
}

test("REST streams are refused by status, however long authentication takes", async () => {
  const { plane, config, metrics } = running;
  const quick = createAuthenticator(config.api.auth);
  const authenticate = (headers: Headers) => setTimeout(4 * STREAM_START_GRACE_MS).then(() => quick.again(headers));
  const server = createApp({
    plane,
    config,
    logger: createLogger({ level: "silent" }),
    metrics,
    authenticator: { ...quick, authenticate },
    gate: createGate({ limits: () => config.rateLimits, identified: false }),
    listening: new Set(),
    closing: new AbortController().signal,
    leader: () => null,
  });
  const streams = routes().flatMap((route) => {
    const rpc = RPCS.find(({ name }) => name === `${route.service}.${route.method}`);
    return rpc === undefined || rpc.unary ? [] : [restOn(route, requestFor(rpc, "ada", plane))];
  });
  const answers = await Promise.all(
    streams.map(({ method, path, headers, body }) =>
      server.inject({
        method: method as "GET",
        url: path,
        headers: { ...headers },
        ...(body === undefined ? {} : { body }),
      }),
    ),
  );
  expect(streams.length).toBeGreaterThan(5);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
});
