// The end of kept connections: no request on them stays without an answer.

import { Agent, createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drainable } from "../../src/api/rest/drain.ts";

let server: Server;
let drain: () => Promise<void>;
let answerAfterMs = 0;
const agent = new Agent({ keepAlive: true });

beforeEach(async () => {
  answerAfterMs = 0;
  server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => {
    setTimeout(() => response.end("served"), answerAfterMs);
  });
  drain = drainable(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
});

function ask(): Promise<{ readonly text: string; readonly connection: string }> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const request = get({ port, agent }, (response: IncomingMessage) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ text, connection: response.headers.connection ?? "" }));
    });
    request.on("error", reject);
  });
}

test("a request on a kept connection is answered, and the answer ends the connection", async () => {
  expect((await ask()).connection).toBe("keep-alive");
  const done = drain();
  expect(await ask()).toEqual({ text: "served", connection: "close" });
  await done;
});

test("a request under way is answered, and its connection ends with the answer", async () => {
  answerAfterMs = 60;
  const answer = ask();
  await sleep(20);
  await drain();
  expect(await answer).toEqual({ text: "served", connection: "close" });
});

test("without connections nothing is waited for", async () => {
  const began = performance.now();
  await drain();
  expect(performance.now() - began).toBeLessThan(100);
});
