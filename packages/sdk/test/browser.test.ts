// The client in a browser: bundled for one, without a module of Node, and run over fetch and streams alone.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type * as browser from "../src/browser.ts";
import { type FakeServer, json, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
let made: typeof browser;
const dir = mkdtempSync(join(tmpdir(), "lattice-browser-"));

beforeAll(async () => {
  server = await startFakeServer();
  const entry = fileURLToPath(new URL("../src/browser.ts", import.meta.url));
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const asked = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(asked.filter((path) => path.startsWith("node:"))).toEqual([]);
  const file = join(dir, "client.mjs");
  writeFileSync(file, outputFiles[0]?.contents ?? "");
  made = (await import(pathToFileURL(file).href)) as typeof browser;
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("calls, retries with backoff, and streams as async iterables", async () => {
  const busy = json(429, { code: "rate_limited", status: 429, detail: "slow down", retryable: true });
  server.answer(busy, json(200, { id: "7", state: "running" }));
  const client = made.createClient({ url: server.url, user: "ada", retry: { firstDelayMs: 1 } });
  expect(await client.get("7")).toMatchObject({ state: "running" });
  expect(server.seen.length).toBe(2);
  expect(server.seen[0]?.headers["x-lattice-user"]).toBe("ada");
  server.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: allocation_changed\nid: 4:0\ndata: {"cursor":"4:0","kind":"allocation_changed"}\n\n');
  });
  for await (const event of client.watch({ allocation_id: "7" })) {
    expect(event.cursor).toBe("4:0");
    break;
  }
  server.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end('event: log\ndata: {"allocation_id":"7","unavailable_reason":"nothing is measured"}\n\n');
  });
  const events = [];
  for await (const event of client.streamMetrics("7")) events.push(event);
  expect(events).toMatchObject([{ unavailable_reason: "nothing is measured" }]);
});

test("a refusal that will not pass is not repeated", async () => {
  const seen = server.seen.length;
  server.answer(json(429, { code: "quota_exceeded", status: 429, detail: "no room", retryable: false }));
  const client = made.createClient({ url: server.url });
  await expect(client.get("7")).rejects.toThrow(/no room/);
  expect(server.seen.length - seen).toBe(1);
});
