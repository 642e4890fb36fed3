// A server that cannot join ends within seconds, with the reason of each address.

import { createServer, type Server } from "node:net";
import { credentials } from "@grpc/grpc-js";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/base/config/index.ts";
import type { LogStart } from "../../src/log/log-config.ts";
import { joinByAsking } from "../../src/peers/join.ts";

/** Of one that answers requests with an error, as a server without a majority does. */
const UNAVAILABLE = JSON.stringify({
  ...{ type: "about:blank", title: "x", status: 503, code: "log_unavailable" },
  ...{ detail: "etcdserver: no leader", hint: "" },
});
let refusing: Server;
let port = 0;
beforeAll(async () => {
  refusing = createServer((socket) => {
    socket.once("data", () => {
      const head =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nconnection: close\r\n";
      socket.end(`${head}content-length: ${UNAVAILABLE.length}\r\n\r\n${UNAVAILABLE}`);
    });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const address = refusing.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(() => new Promise((resolve) => refusing.close(resolve)));

async function join(address: string): Promise<string> {
  const config = loadConfig(null, { server: { data_dir: "/tmp/unused" } });
  const identity = { credentials: credentials.createInsecure(), tls: null };
  const begin: LogStart = { join: [address] };
  const asking = joinByAsking(
    begin,
    { config, identity, own: null, logger: pino({ level: "silent" }) },
    { withinMs: 800, busyMs: 60_000 },
  );
  if (typeof asking !== "object" || !("ask" in asking)) throw new Error("it does not ask");
  return asking.ask().then(
    () => "joined",
    (error: Error) => error.message,
  );
}

test("no server at the address", async () => {
  const unused = createServer();
  await new Promise<void>((resolve) => unused.listen(0, "127.0.0.1", resolve));
  const address = unused.address();
  const free = typeof address === "object" && address !== null ? address.port : 0;
  await new Promise((resolve) => unused.close(resolve));
  expect(await join(`127.0.0.1:${free}`)).toMatch(/^no member added this server; 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
  expect(await join(`http://127.0.0.1:${free}`)).toContain("ECONNREFUSED");
});

test("a server that has no majority", async () => {
  expect(await join(`http://127.0.0.1:${port}`)).toContain("etcdserver: no leader");
});
