// Errors of the Node client for wrong addresses.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeTransport } from "../src/transport/node.ts";

const server = createServer((_, answer) => answer.end("{}"));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

test("https to a server in the clear", async () => {
  const { port } = server.address() as AddressInfo;
  const call = createNodeTransport()({
    method: "GET",
    url: `https://127.0.0.1:${port}/`,
    headers: {},
    idleTimeoutMs: 0,
  } as never);
  await expect(call).rejects.toThrow(/^127\.0\.0\.1 does not use TLS: write http:\/\//);
});
