// Long answers of services: they end when the caller loses access, their number per user is limited, and a service that
// never answers is given up.

import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { TenantId, UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearerBy, SHARED_SECRET } from "./bearer.ts";
import { callGrpc, callHttp, type Running, startTestApi } from "./clients.ts";

let running: Running;
let service: Server;
let closed = 0;
const admin = bearerBy({ sub: "root", scope: "admin" });

beforeAll(async () => {
  process.env.LATTICE_STREAMS_SECRET = SHARED_SECRET;
  service = createServer((request, response) => {
    request.socket.once("close", () => {
      closed += 1;
    });
    if (request.url === "/silent") return;
    response.write("first\n");
    if (request.url !== "/on") response.end();
  });
  service.on("upgrade", (_request: IncomingMessage, socket: Socket) => {
    socket.once("close", () => {
      closed += 1;
    });
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.end()).resume();
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n");
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  running = await startTestApi({
    api: {
      oidc_hmac_secret: "env://LATTICE_STREAMS_SECRET",
      oidc_leeway_seconds: 0,
      token_recheck_interval: "100ms",
      proxy_answer_timeout: "2s",
    },
    rate_limits: { proxy_max_concurrent: 2 },
  });
  running.plane.addNode("n1");
  const allocation = create(pb.AllocationSpecSchema, {
    entrypoint: "serve",
    tenant: "art",
    connectivity: { expose: [{ name: "web", port: (service.address() as AddressInfo).port }] },
  });
  const request = create(pb.SubmitRequestSchema, { allocation });
  expect(await callGrpc(running, "AllocationService.Submit", request, admin)).toHaveProperty("json");
  running.plane.start("1", ["n1"]);
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await running.close();
});

const at = (path: string) => `/api/v1/services/web/proxy${path}`;

/** Resolves with the first bytes; `ended` resolves at the end. */
function follow(headers: Record<string, string>): Promise<{ ended: Promise<void>; leave(): void }> {
  return new Promise((resolve, reject) => {
    const asked = get(`${running.rest}${at("/on")}`, { headers, agent: false }, (response) => {
      const ended = new Promise<void>((done) => response.once("close", done));
      response.on("error", () => undefined);
      response.once("data", () => resolve({ ended, leave: () => asked.destroy() }));
      response.once("end", () => reject(new Error(`ended with ${response.statusCode}`)));
    });
    asked.on("error", reject);
  });
}

function join(headers: Record<string, string>): Promise<{ ended: Promise<void>; leave(): void }> {
  const { hostname, port } = new URL(running.rest);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `GET ${at("/ws")} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${lines.join("")}\r\n`,
      ),
    );
    const ended = new Promise<void>((done) => socket.once("close", () => done()));
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      const [status = ""] = bytes.toString().split("\r\n");
      if (status.includes("101")) resolve({ ended, leave: () => socket.destroy() });
      else reject(new Error(status));
    });
  });
}

const WAYS = [
  ["HTTP", follow],
  ["WebSocket", join],
] as const;

test.each(WAYS)("%s: it ends when the token expires", async (_, open) => {
  const before = closed;
  const soon = Math.floor(Date.now() / 1_000) + 5;
  const { ended } = await open(bearerBy({ sub: "ada", tenant: "art", exp: soon }));
  await ended;
  expect(Date.now() / 1_000).toBeGreaterThanOrEqual(soon);
  await expect.poll(() => closed).toBe(before + 1);
});

test.each(WAYS)("%s: it ends when the grant is revoked, and not before", async (_, open) => {
  const grant = (kind: "grant.add" | "grant.remove") =>
    running.plane.apply({
      kind,
      origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
      tenant: "art" as TenantId,
      user: "bob" as UserName,
      role: "tenant_admin",
    });
  grant("grant.add");
  const bob = bearerBy({ sub: "bob", tenant: "other" });
  const { ended } = await open(bob);
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 350));
  expect(over).toBe(false);
  grant("grant.remove");
  await ended;
  expect((await callHttp(running, { path: at("/"), headers: bob })).status).toBe(404);
});

test("the number of concurrent requests per user is limited over both kinds, and slots are freed", async () => {
  const eve = bearerBy({ sub: "eve", tenant: "art" });
  const status = async (headers: Record<string, string>) =>
    (await callHttp(running, { path: at("/"), headers })).status;
  const first = await follow(eve);
  const second = await join(eve);
  const refused = await callHttp(running, { path: at("/"), headers: eve });
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.text)).toMatchObject({ code: "too_many_streams" });
  await expect(join(eve)).rejects.toThrow("429");
  expect(await status(bearerBy({ sub: "ada", tenant: "art" }))).toBe(200);
  first.leave();
  await expect.poll(() => status(eve)).toBe(200);
  second.leave();
  await expect.poll(async () => [await status(eve), await status(eve)]).toEqual([200, 200]);
});

test("a service that never answers is a 504", async () => {
  const before = closed;
  const answer = await callHttp(running, { path: at("/silent"), headers: admin });
  expect(JSON.parse(answer.text)).toMatchObject({ code: "deadline_exceeded", status: answer.status });
  expect(answer.text).toContain("has not answered the request");
  await expect.poll(() => closed).toBe(before + 1);
  const posted = await callHttp(running, { method: "POST", path: at("/silent"), headers: admin, body: "a body" });
  expect(JSON.parse(posted.text)).toMatchObject({ code: "deadline_exceeded" });
});
