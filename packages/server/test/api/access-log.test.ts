// Every request is logged with caller, target, origin and result: REST, gRPC, WebSockets, services, requests refused
// before authentication, and agents. No line contains a token.

import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Writable } from "node:stream";
import { create, type Message } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MAX_BODY_BYTES } from "../../src/api/limits/limits.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import type { AccessMode } from "../../src/base/config/index.ts";
import { ACCESS_MESSAGE, type AccessLine, accessLog } from "../../src/base/observe/access-log.ts";
import type { Logger } from "../../src/base/observe/index.ts";
import { createAgentGuard } from "../../src/nodes/agents/guard.ts";
import { bearerBy, SHARED_SECRET, tokenBy } from "./bearer.ts";
import { callGrpc, callHttp, metadataOf, methodOf, type Running, startTestApi } from "./clients.ts";

let written = "";
/** The quietest level above silent. */
const logger: Logger = pino(
  { level: "fatal", messageKey: "message" },
  new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  }),
);
let running: Running;
let service: Server;
const ada = bearerBy({ sub: "ada", tenant: "physics" });

beforeAll(async () => {
  process.env.LATTICE_ACCESS_SECRET = SHARED_SECRET;
  service = createServer((_request, response) => response.end("served"));
  service.on("upgrade", (_request, socket) =>
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"),
  );
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  running = await startTestApi({ api: { oidc_hmac_secret: "env://LATTICE_ACCESS_SECRET" } }, logger);
  running.plane.addNode("n1");
  const expose = [{ name: "web", port: (service.address() as AddressInfo).port }];
  const submitted = await http("POST", "/api/v1/allocations", ada, { entrypoint: "serve", connectivity: { expose } });
  expect(submitted.status).toBe(200);
  running.plane.start("1", ["n1"]);
  running.plane.screen = async function* () {
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: new Uint8Array([36]) } });
  };
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await running.close();
});
beforeEach(() => {
  written = "";
});

const http = (method: string, path: string, headers: object = {}, body?: object | string) =>
  callHttp(running, {
    method,
    path,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

type Line = Record<string, unknown>;
const lines = (): Line[] =>
  written
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter(({ message }) => message === ACCESS_MESSAGE);

/** The only line of the last action. */
async function line(): Promise<Line> {
  await expect.poll(() => lines().length).toBeGreaterThan(0);
  const found = lines();
  expect(found).toHaveLength(1);
  expect(written).not.toMatch(/eyJ|[Bb]earer/);
  return found[0] ?? {};
}

/** Sends raw bytes, and resolves with the first line of the answer. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(running.rest);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (bytes: Buffer) => {
      answer += bytes.toString();
      if (!answer.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(answer.split("\r\n")[0] ?? "");
    });
    socket.on("error", reject);
  });
}

const upgrade = (path: string, headers: object): Promise<string> =>
  raw(
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${String(value)}\r\n`)
        .join("")}\r\n`,
  );

const ADA = { user: "ada", tenant: "physics" };
const NOBODY = { user: "", tenant: "" };

test("a REST call and a refused one are logged", async () => {
  await http("GET", "/api/v1/allocations/1?min_index=1", ada);
  expect(await line()).toMatchObject({
    ...ADA,
    interface: "rest",
    rpc: "AllocationService.Get",
    method: "GET",
    path: "/api/v1/allocations/1",
    target: "1",
    remote: "127.0.0.1",
    code: "ok",
    ms: expect.any(Number),
  });
  written = "";
  const eve = bearerBy({ sub: "eve", tenant: "biology" });
  await http("DELETE", "/api/v1/allocations/1", eve);
  expect(await line()).toMatchObject({ user: "eve", tenant: "biology", target: "1", code: "forbidden" });
  written = "";
  await http("GET", "/api/v1/allocations/1", { authorization: `Bearer ${tokenBy({ sub: "ada" }, "x".repeat(40))}` });
  expect(await line()).toMatchObject({ ...NOBODY, target: "1", code: "unauthenticated" });
});

test("a created object is logged with its id", async () => {
  await http("POST", "/api/v1/allocations", ada, { entrypoint: "true" });
  expect(await line()).toMatchObject({ ...ADA, rpc: "AllocationService.Submit", target: "2", code: "ok" });
});

test("a gRPC call, a stream and a terminal over both interfaces are logged", async () => {
  await callGrpc(running, "AllocationService.Get", create(pb.GetAllocationRequestSchema, { id: "1" }), ada);
  expect(await line()).toMatchObject({
    ...ADA,
    interface: "grpc",
    rpc: "AllocationService.Get",
    target: "1",
    remote: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    code: "ok",
  });
  written = "";
  const method = methodOf("SessionService.Attach");
  const call = running.grpc.makeBidiStreamRequest<Message, Message>(
    method.path,
    (message) => method.requestSerialize(message),
    (bytes) => method.responseDeserialize(bytes),
    metadataOf(ada),
  );
  call.write(create(pb.AttachRequestSchema, { message: { case: "start", value: { id: "1" } } }));
  for await (const _ of call as AsyncIterable<Message>) call.end();
  expect(await line()).toMatchObject({
    ...ADA,
    interface: "grpc",
    rpc: "SessionService.Attach",
    target: "1",
    code: "ok",
  });
  written = "";
  const gone = new AbortController();
  await fetch(`${running.rest}/api/v1/allocations/1/logs/stream`, { headers: ada, signal: gone.signal });
  expect(lines()).toEqual([]);
  gone.abort();
  expect(await line()).toMatchObject({ ...ADA, interface: "rest", rpc: "AllocationService.StreamLogs", target: "1" });
});

test("accepted and refused WebSockets are logged", async () => {
  expect(await upgrade("/api/v1/allocations/1/attach?rows=1", ada)).toContain("101");
  expect(await line()).toMatchObject({
    ...ADA,
    interface: "websocket",
    rpc: "SessionService.Attach",
    path: "/api/v1/allocations/1/attach",
    target: "1",
    code: "ok",
  });
  for (const [path, headers, expected] of [
    ["/api/v1/allocations/1/attach", {}, { ...NOBODY, rpc: "SessionService.Attach", code: "unauthenticated" }],
    ["/api/v1/nothing", ada, { ...ADA, path: "/api/v1/nothing", code: "not_found" }],
    ["/api/v1/allocations/1/attach", { ...ada, origin: "http://evil.example" }, { ...ADA, code: "forbidden" }],
  ] as const) {
    written = "";
    await upgrade(path, headers);
    expect(await line()).toMatchObject({ interface: "websocket", ...expected });
  }
});

test("accepted and refused requests to services are logged, over HTTP and WebSocket", async () => {
  const at = "/api/v1/services/web/proxy/a?secret=b";
  const about = { interface: "proxy", rpc: "Services.Proxy", target: "web", path: "/api/v1/services/web/proxy/a" };
  expect((await http("GET", at, ada)).text).toBe("served");
  expect(await line()).toMatchObject({ ...about, ...ADA, method: "GET", code: "ok" });
  written = "";
  await http("GET", at, bearerBy({ sub: "eve", tenant: "biology" }));
  expect(await line()).toMatchObject({ ...about, user: "eve", tenant: "biology", code: "unknown_service" });
  written = "";
  await http("GET", at);
  expect(await line()).toMatchObject({ ...about, ...NOBODY, code: "unauthenticated" });
  written = "";
  expect(await upgrade(at, ada)).toContain("101");
  expect(await line()).toMatchObject({ ...about, ...ADA, code: "ok" });
  written = "";
  await upgrade(at, bearerBy({ sub: "eve", tenant: "biology" }));
  expect(await line()).toMatchObject({ ...about, user: "eve", code: "unknown_service" });
});

test("requests refused before authentication are logged", async () => {
  const large = "x".repeat(MAX_BODY_BYTES + 1);
  const json = { "content-type": "application/json" };
  for (const [method, path, headers, body, code] of [
    ["GET", "/api/v1/nowhere?a=b", {}, undefined, "not_found"],
    ["PATCH", "/api/v1/nodes", {}, "{}", "method_not_allowed"],
    ["POST", "/api/v1/allocations", json, "{", "malformed_body"],
    ["POST", "/api/v1/allocations", json, '{"no_such_field": 1}', "invalid_argument"],
    ["POST", "/api/v1/allocations", { "content-type": "image/png" }, "{}", "unsupported_media_type"],
    ["POST", "/api/v1/allocations", json, large, "body_too_large"],
    ["GET", "/api/v1/nodes", { origin: "http://evil.example" }, undefined, "forbidden"],
  ] as const) {
    written = "";
    await http(method, path, { ...ada, ...headers }, body);
    const expected = { ...ADA, interface: "rest", method, path: path.split("?")[0], code };
    expect(await line(), `${method} ${path} ${code}`).toMatchObject(expected);
  }
  written = "";
  await http("GET", "/api/v1/nowhere");
  expect(await line()).toMatchObject({ ...NOBODY, code: "not_found" });
});

test("unreadable connections are logged", async () => {
  expect(await raw("this is not HTTP\r\n\r\n")).toContain("400");
  expect(await line()).toMatchObject({ ...NOBODY, interface: "rest", remote: "127.0.0.1", code: "malformed_body" });
});

test("unreadable and oversized gRPC messages are logged", async () => {
  await callGrpc(running, "AllocationService.Get", Buffer.from([0xff]), ada);
  expect(await line()).toMatchObject({
    ...ADA,
    interface: "grpc",
    rpc: "AllocationService.Get",
    code: "malformed_body",
  });
  written = "";
  await callGrpc(running, "AllocationService.Get", Buffer.alloc(MAX_BODY_BYTES + 1), ada);
  expect(await line()).toMatchObject({ ...NOBODY, interface: "grpc", code: "body_too_large" });
});

test("refused agents are logged", async () => {
  const said: AccessLine[] = [];
  const guard = createAgentGuard({
    authenticator: createAuthenticator(running.config.api.auth),
    certificates: false,
    refused: (one) => said.push(one),
  });
  const { implementation } = guard.guarded({
    definition: {},
    implementation: { Connect: () => undefined } as never,
  });
  const connectBy = (headers: Record<string, string>) => {
    const call = { metadata: metadataOf(headers), getPeer: () => "10.0.0.9:4711", emit: () => undefined };
    (implementation as unknown as { Connect(call: object): void }).Connect(call);
    return call;
  };
  connectBy({});
  connectBy(ada);
  const hello = connectBy(bearerBy({ sub: "n1", scope: "agent" }));
  await expect.poll(() => said.length).toBe(2);
  await expect.poll(() => guard.refusal(hello, "n1")).toBeNull();
  expect(guard.refusal(hello, "n2")).toContain("the token is for n1");
  const about = { interface: "agent", remote: "10.0.0.9:4711" };
  expect(said).toMatchObject([
    { ...about, rpc: "AgentService.Connect", user: "", code: "unauthenticated" },
    { ...about, rpc: "AgentService.Connect", user: "ada", code: "forbidden" },
    { ...about, user: "n1", target: "n2", code: "forbidden" },
  ]);
});

test("its level is independent: all, refused or none", () => {
  const by = (access: AccessMode, code: string) => {
    written = "";
    accessLog(
      { logger, config: { log: { access } } },
      { interface: "rest", user: "ada", tenant: "", remote: "", code },
    );
    return lines().length;
  };
  expect([by("all", "ok"), by("refused", "ok"), by("none", "ok")]).toEqual([1, 0, 0]);
  expect([by("all", "forbidden"), by("refused", "forbidden"), by("none", "forbidden")]).toEqual([1, 1, 0]);
  const long = "/".padEnd(10_000, "x");
  accessLog(
    { logger, config: { log: { access: "all" } } },
    { interface: "rest", path: `${long}?token=eyJ`, target: long, user: "", tenant: "", remote: "", code: "ok" },
  );
  expect(written.length).toBeLessThan(1_000);
  expect(written).not.toContain("eyJ");
});
