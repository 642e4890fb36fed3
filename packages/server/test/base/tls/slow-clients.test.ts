// Slow clients with TLS: in the handshake and after it. Each is disconnected, on the REST port and on the gRPC port.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { seconds } from "@lattice/core";
import { issue, makeAuthority, type Pem, pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningApi, startApi } from "../../../src/api/index.ts";
import { createAuthenticator } from "../../../src/base/auth/authenticator.ts";
import { loadConfig } from "../../../src/base/config/index.ts";
import { createLogger, createMetrics } from "../../../src/base/observe/index.ts";
import { openTlsSource, type TlsSource } from "../../../src/base/tls/source.ts";
import { methodOf } from "../../api/clients.ts";
import { memoryPlane } from "../../api/memory-plane.ts";

const DAY = 86_400_000;
/** Allows for slow machines. */
const WITHIN_MS = 120_000;
const dir = mkdtempSync(join(tmpdir(), "lattice-slow-"));
const plane = memoryPlane();
let authority: Pem;
let tls: TlsSource;
let api: RunningApi;
let grpc: Client;

beforeAll(async () => {
  authority = await makeAuthority("alps", DAY);
  const hosts = ["localhost", "127.0.0.1"];
  const own = await issue(authority, { name: "s1", kind: "server", site: "alps", hosts, lifetimeMs: DAY });
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const pair = { cert: file("s1.crt", own.cert), key: file("s1.key", own.key), ca: file("ca.crt", authority.cert) };
  const rest = { caKey: null, crl: null, agentLifetime: seconds(3_600), requireClientCertificates: false };
  const logger = createLogger({ level: "silent" });
  tls = await openTlsSource({ config: { ...pair, ...rest }, logger, everyMs: 1_000_000 });
  const listen = { rest_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0" };
  const config = loadConfig(null, { api: { ...listen, headers_timeout: "2s", request_timeout: "3s" } });
  const authenticator = createAuthenticator(config.api.auth);
  api = await startApi({ plane, config, logger, metrics: createMetrics(), authenticator, tls });
  grpc = new Client(api.grpcAddress, credentials.createSsl(Buffer.from(authority.cert)));
});
afterAll(async () => {
  grpc.close();
  await api.close();
  tls.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const portOf = (address: string): number => Number(address.split(":").at(-1));
const PORTS = [
  ["REST", () => portOf(api.restAddress)],
  ["gRPC", () => portOf(api.grpcAddress)],
] as const;

interface Dripped {
  write(text: string): unknown;
  once(event: "close", listener: () => void): unknown;
}

function drip(to: Dripped, text: string): void {
  const timer = setInterval(() => to.write(text), 50);
  to.once("close", () => clearInterval(timer));
}

/** Everything that the other end sends until it closes. */
function untilClosed(socket: ReturnType<typeof connect>): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (data: Buffer) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

function inTheClear(port: number, begin: string, more: string | null): Promise<string> {
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(begin, "latin1");
    if (more !== null) drip(socket, more);
  });
  return untilClosed(socket);
}

/** A handshake may fail on a slow machine; it is then retried. */
async function greeted(port: number, protocol: string): Promise<TLSSocket> {
  return vi.waitFor(
    () =>
      new Promise<TLSSocket>((resolve, reject) => {
        const options = { host: "127.0.0.1", port, ca: authority.cert, ALPNProtocols: [protocol] };
        const socket = connectTls(options, () => resolve(socket));
        socket.on("error", reject);
        socket.on("close", () => reject(new Error("closed")));
      }),
    WITHIN_MS,
  );
}

function list(metadata = new Metadata()): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = methodOf("NodeService.ListNodes");
  return new Promise((resolve) =>
    grpc.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      create(pb.ListNodesRequestSchema),
      metadata,
      (error) => resolve(error === null ? "served" : `refused: ${error.code} ${error.details}`),
    ),
  );
}

const othersAreServed = () => vi.waitFor(async () => expect(await list()).toBe("served"), WITHIN_MS);

test.each(PORTS)(
  "the port of %s: nothing is said, or the handshake does not end",
  { timeout: WITHIN_MS },
  async (_, port) => {
    const hello = "\x16\x03\x01\x02\x00";
    const slow = [inTheClear(port(), "", null), inTheClear(port(), "", "\x16"), inTheClear(port(), hello, "\x01")];
    await othersAreServed();
    await Promise.all(slow);
    await othersAreServed();
  },
);

test.each(PORTS)(
  "the port of %s: HTTP/1.1 byte by byte, headers and body, is refused",
  { timeout: WITHIN_MS },
  async (_, port) => {
    const before = plane.hash();
    const slow = async (begin: string): Promise<string> => {
      const socket = await greeted(port(), "http/1.1");
      const said = untilClosed(socket);
      if (begin !== "") socket.write(begin);
      if (begin !== "") drip(socket, "x");
      return said;
    };
    const type = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000";
    const [, headers, body] = await Promise.all([
      slow(""),
      slow("GET /healthz HTTP/1.1\r\nhost: localhost\r\n"),
      slow(`POST /api/v1/allocations HTTP/1.1\r\n${type}\r\n\r\n{`),
      othersAreServed(),
    ]);
    for (const said of [headers, body]) expect(said).toMatch(/^HTTP\/1.1 504 [\s\S]*"deadline_exceeded"/);
    expect(plane.hash()).toBe(before);
    await othersAreServed();
  },
);

test("gRPC: an idle connection after its handshake, and a message byte by byte, are closed", {
  timeout: WITHIN_MS,
}, async () => {
  const before = plane.hash();
  const silent = greeted(portOf(api.grpcAddress), "h2").then(untilClosed);
  await vi.waitFor(async () => expect(await slowMessage()).toBe("4"), WITHIN_MS);
  await silent;
  expect(plane.hash()).toBe(before);
  await othersAreServed();
});

/** The end of the call. */
async function slowMessage(): Promise<string> {
  const session = connectHttp2(`https://${api.grpcAddress}`, { ca: authority.cert });
  session.on("error", () => undefined);
  const call = session.request({
    ":method": "POST",
    ":path": methodOf("AllocationService.Submit").path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const status = new Promise<string>((resolve) => {
    call.on("error", () => undefined);
    call.on("response", (headers) => "grpc-status" in headers && resolve(String(headers["grpc-status"])));
    call.on("trailers", (headers) => resolve(String(headers["grpc-status"])));
    call.on("close", () => resolve(`closed ${call.rstCode}`));
    call.resume();
  });
  // The beginning of a message of 100,000 bytes.
  call.write(Buffer.from([0, 0, 1, 134, 160]));
  drip(call, "x");
  return status.finally(() => session.destroy());
}

test("gRPC: headers without end are refused, and the next call is served", { timeout: WITHIN_MS }, async () => {
  const metadata = new Metadata();
  metadata.set("x-large", "y".repeat(200_000));
  expect(await list(metadata)).toMatch(/^refused: /);
  await othersAreServed();
});
