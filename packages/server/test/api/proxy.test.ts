// The proxy to services: bytes in both directions, WebSockets, and access.

import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import { pb, protocolsWith } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callGrpc, callHttp, type Running, startTestApi } from "./clients.ts";

const SECRET = "a-secret-of-at-least-thirty-two-characters";
let open: Running;
let closed: Running;
let service: Server;
let port = 0;
const seen: IncomingMessage[] = [];

beforeAll(async () => {
  service = createServer((request, response) => {
    seen.push(request);
    if (request.url === "/away") return void response.writeHead(302, { location: "/login?x=1" }).end();
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/html", "set-cookie": ["a=b; Path=/; Domain=x"], "x-own": "1" });
      response.end(`${request.method} ${request.url} ${Buffer.concat(parts).length}`);
    });
  });
  service.on("upgrade", (request: IncomingMessage, socket) => {
    seen.push(request);
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade, x-own\r\nupgrade: websocket\r\n" +
        "set-cookie: stolen=1; Path=/\r\nx-own: 1\r\nsec-websocket-accept: yes\r\nkeep-alive: timeout=9\r\n\r\n",
    );
    socket.on("data", (bytes: Buffer) => socket.write(`echo ${bytes.toString()}`));
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  port = (service.address() as AddressInfo).port;
  open = await startTestApi();
  process.env.LATTICE_PROXY_TEST_SECRET = SECRET;
  closed = await startTestApi({ api: { oidc_hmac_secret: "env://LATTICE_PROXY_TEST_SECRET" } });
  for (const running of [open, closed]) {
    for (const node of ["n1", "n2", "n3", "n4", "n5", "n6"]) running.plane.addNode(node);
  }
  await expose(open, "1", { name: "web", tenant: "default" }, "n1", port);
  await expose(open, "2", { name: "shared", tenant: "default" }, "n2", port);
  await expose(open, "3", { name: "shared", tenant: "art" }, "n3", port);
  await expose(open, "4", { name: "dead", tenant: "default" }, "n4", 1);
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await Promise.all([open.close(), closed.close()]);
});

async function expose(
  running: Running,
  id: string,
  { name, tenant }: { name: string; tenant: string },
  node: string,
  at: number,
  headers: Record<string, string> = { "x-lattice-user": "ada" },
): Promise<void> {
  const allocation = create(pb.AllocationSpecSchema, {
    entrypoint: "serve",
    tenant,
    connectivity: { expose: [{ name, port: at }] },
    lifecycle: { type: pb.LifecycleType.UNBOUNDED },
  });
  const answer = await callGrpc(
    running,
    "AllocationService.Submit",
    create(pb.SubmitRequestSchema, { allocation }),
    headers,
  );
  if ("problem" in answer) throw new Error(JSON.stringify(answer.problem));
  running.plane.start(id, [node]);
}

const at = (rest: string) => `/api/v1/services/web/proxy${rest}`;
const ask = (path: string, extra: object = {}) =>
  callHttp(open, {
    path,
    headers: { "x-lattice-user": "ada", authorization: "Bearer secret", cookie: "lattice=1; c=d" },
    ...extra,
  });

test("requests and bodies pass; headers of the server do not", async () => {
  const answer = await ask(at("/a/b%2Fc?q=1&q=2"));
  expect([answer.status, answer.text]).toEqual([200, "GET /a/b%2Fc?q=1&q=2 0"]);
  const headers = seen.at(-1)?.headers ?? {};
  expect(headers).toMatchObject({
    "x-forwarded-user": "ada",
    "x-forwarded-prefix": "/api/v1/services/web/proxy",
    // All cookies are those of services; the server has none.
    cookie: "lattice=1; c=d",
  });
  expect([headers.authorization, headers["x-lattice-user"]]).toEqual([undefined, undefined]);
  expect(answer.headers["set-cookie"]).toEqual(["a=b; Path=/api/v1/services/web/proxy/"]);
  expect(answer.headers["content-security-policy"]).toContain("sandbox");
  // Larger than the limit of API requests.
  const body = Buffer.alloc(9 * 1024 * 1024, 1);
  const posted = await ask(at("/up"), { method: "POST", body, headers: { "content-type": "application/x-anything" } });
  expect(posted.text).toBe(`POST /up ${body.length}`);
  expect((await ask("/v1/services/web/proxy")).text).toBe("GET / 0");
  expect((await ask(at("/away"))).headers.location).toBe("/api/v1/services/web/proxy/login?x=1");
});

test("unknown, ambiguous and unreachable services are refused", async () => {
  const of = async (path: string, headers = {}) => {
    const { status, text } = await callHttp(open, { path, headers: { "x-lattice-user": "ada", ...headers } });
    return [status, status >= 400 ? (JSON.parse(text) as { code: string }).code : text];
  };
  expect(await of("/api/v1/services/none/proxy/")).toEqual([404, "unknown_service"]);
  expect(await of("/api/v1/services/shared/proxy/")).toEqual([409, "conflict"]);
  expect(await of("/api/v1/services/shared/proxy/", { "x-lattice-tenant": "art" })).toEqual([200, "GET / 0"]);
  expect(await of("/api/v1/services/web/proxy/", { "x-lattice-tenant": "art" })).toEqual([404, "unknown_service"]);
  expect(await of("/api/v1/services/dead/proxy/")).toEqual([503, "node_unreachable"]);
  expect(await of("/api/v1/services/%ff/proxy/")).toEqual([404, "not_found"]);
  const lookup = await callHttp(open, { path: "/api/v1/services", headers: { "x-lattice-tenant": "art" } });
  expect(JSON.parse(lookup.text)).toMatchObject({ services: [{ name: "shared", tenant: "art", endpoints: 1 }] });
});

test("the ports of the server itself are refused", async () => {
  for (const [i, address] of [open.api.restAddress, open.api.grpcAddress].entries()) {
    const own = Number(address.slice(address.lastIndexOf(":") + 1));
    await expose(open, String(5 + i), { name: `own-${i}`, tenant: "default" }, `n${5 + i}`, own);
    const { status, text } = await ask(`/api/v1/services/own-${i}/proxy/healthz`);
    expect([status, JSON.parse(text)]).toMatchObject([503, { code: "node_unreachable" }]);
    expect(text).toContain("it is a port of the server");
  }
});

test("a WebSocket passes in both directions", async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    const { hostname, port: own } = new URL(open.rest);
    const socket = connect(Number(own), hostname, () => {
      socket.write(
        `GET ${at("/ws?k=1")} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
          `sec-websocket-protocol: ${[...protocolsWith("a token"), "chat"].join(", ")}\r\n\r\n`,
      );
    });
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes("\r\n\r\n") && !text.includes("echo")) socket.write("hello");
      if (text.includes("echo hello")) {
        socket.destroy();
        resolve(text);
      }
    });
    socket.on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 101/);
  // The browser requires a chosen protocol; the service has seen neither the token nor ours.
  expect(answer).toContain("sec-websocket-protocol: lattice.v1\r\n");
  expect(answer).not.toContain("lattice.bearer");
  // A cookie of an upgrade would apply to every service; the other headers are for one connection.
  expect(answer.toLowerCase()).not.toMatch(/set-cookie|x-own|keep-alive/);
  expect(answer).toContain("sec-websocket-accept: yes\r\n");
  expect([seen.at(-1)?.url, seen.at(-1)?.headers["sec-websocket-protocol"]]).toEqual(["/ws?k=1", "chat"]);
});

test("access follows roles and tenants", async () => {
  const admin = bearer({ sub: "root", scope: "admin" });
  await expose(closed, "1", { name: "web", tenant: "art" }, "n1", port, admin);
  const status = async (headers: Record<string, string>) => (await callHttp(closed, { path: at("/"), headers })).status;
  expect(await status({})).toBe(401);
  expect(await status(admin)).toBe(200);
  expect(await status(bearer({ sub: "eve", tenant: "art" }))).toBe(200);
  expect(await status(bearer({ sub: "bob", tenant: "other" }))).toBe(404);
  expect(await status({ ...bearer({ sub: "bob", tenant: "other" }), "x-lattice-tenant": "art" })).toBe(404);
  expect(await status(bearer({ sub: "eye", tenant: "art", scope: "readonly" }))).toBe(404);
});

test("the tenant header narrows the reach of a token and never widens it, through REST and gRPC", async () => {
  const admin = bearer({ sub: "root", scope: "admin" });
  await expose(closed, "2", { name: "both", tenant: "blue" }, "n2", port, admin);
  await expose(closed, "3", { name: "both", tenant: "green" }, "n3", port, admin);
  const blue = bearer({ sub: "bob", tenant: "blue" });
  const meaning = (tenant: string) => ({ "x-lattice-tenant": tenant });
  const tenantsOf = (json: unknown, list: "services" | "endpoints") =>
    (json as Record<string, { name?: string; tenant: string }[]>)[list]
      ?.filter(({ name = "both" }) => name === "both")
      .map(({ tenant }) => tenant)
      .sort();
  const find = async (headers: Record<string, string>) => {
    const listed = await callGrpc(closed, "AdminService.ListServices", create(pb.ListServicesRequestSchema), headers);
    const name = { name: "both" };
    const found = await callGrpc(
      closed,
      "AdminService.LookupService",
      create(pb.LookupServiceRequestSchema, name),
      headers,
    );
    const overGrpc = [listed, found].map((answer, i) =>
      "problem" in answer ? answer.problem.code : tenantsOf(answer.json, i === 0 ? "services" : "endpoints"),
    );
    const overRest = [];
    for (const [path, list] of [
      ["", "services"],
      ["/both", "endpoints"],
    ] as const) {
      const { status, text } = await callHttp(closed, { path: `/api/v1/services${path}`, headers });
      const json = JSON.parse(text) as { code: string };
      overRest.push(status >= 400 ? json.code : tenantsOf(json, list));
    }
    expect(overRest).toEqual(overGrpc);
    return overGrpc;
  };
  expect(await find(admin)).toEqual([
    ["blue", "green"],
    ["blue", "green"],
  ]);
  expect(await find({ ...admin, ...meaning("green") })).toEqual([["green"], ["green"]]);
  expect(await find(blue)).toEqual([["blue"], ["blue"]]);
  expect(await find({ ...blue, ...meaning("blue") })).toEqual([["blue"], ["blue"]]);
  expect(await find({ ...blue, ...meaning("green") })).toEqual([[], "unknown_service"]);
  expect(await find({ ...admin, ...meaning("no good") })).toEqual(["invalid_argument", "invalid_argument"]);
  expect(await find(meaning("blue"))).toEqual(["unauthenticated", "unauthenticated"]);
  // The same as through the proxy.
  const through = async (headers: Record<string, string>) =>
    (await callHttp(closed, { path: "/api/v1/services/both/proxy/", headers })).status;
  expect(await through(admin)).toBe(409);
  expect(await through({ ...admin, ...meaning("green") })).toBe(200);
  expect(await through({ ...blue, ...meaning("green") })).toBe(404);
  expect(await through({ ...admin, ...meaning("no good") })).toBe(400);
});

function bearer(claims: object): Record<string, string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iat: now, exp: now + 600, ...claims })}`;
  return { authorization: `Bearer ${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}` };
}
