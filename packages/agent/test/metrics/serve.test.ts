// The metrics listener: responses, and a port already in use.

import { createServer } from "node:net";
import pino from "pino";
import { afterEach, expect, test } from "vitest";
import { serveMetrics } from "../../src/metrics/serve.ts";
import { parseOptions } from "../../src/options/options.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const log = pino({ level: "silent" });

async function served(page: () => string): Promise<string> {
  const made = await serveMetrics({ listen: "127.0.0.1:0", required: true }, page, log);
  closing.push(() => made?.close());
  return `http://${made?.address}`;
}

test("only /metrics is served, and a failing page fails only its request", async () => {
  let broken = false;
  const url = await served(() => {
    if (broken) throw new Error("no");
    return "up 1\n";
  });
  const page = await fetch(`${url}/metrics?x=1`);
  expect(page.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await page.text()).toBe("up 1\n");
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: "POST", body: "x" })).status).toBe(405);
  broken = true;
  expect((await fetch(`${url}/metrics`)).status).toBe(500);
  broken = false;
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
});

test("the default port may be taken by another agent; a configured port may not", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  closing.push(() => other.close());
  const taken = other.address();
  const listen = `127.0.0.1:${taken !== null && typeof taken === "object" ? taken.port : 0}`;
  expect(await serveMetrics({ listen, required: false }, () => "", log)).toBeNull();
  await expect(serveMetrics({ listen, required: true }, () => "", log)).rejects.toThrow(
    /^cannot serve metrics on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
  );
  await expect(serveMetrics({ listen: "127.0.0.1:99999", required: true }, () => "", log)).rejects.toThrow(/99999/);
});

test.each([
  [[], {}, { listen: ":9103", required: false }],
  [["--metrics-listen", "none"], {}, null],
  [["--metrics-listen", "10.0.0.1:9200"], {}, { listen: "10.0.0.1:9200", required: true }],
  [[], { LATTICE_AGENT_METRICS_LISTEN: ":9200" }, { listen: ":9200", required: true }],
  [[], { LATTICE_AGENT_METRICS_LISTEN: "none" }, null],
  [["--metrics-listen", ":1"], { LATTICE_AGENT_METRICS_LISTEN: "none" }, { listen: ":1", required: true }],
  [["--hollow", "3"], {}, null],
])("flags %j and variables %j mean %j", (argv, env, expected) => {
  expect(parseOptions(argv, env, "test").metrics).toEqual(expected);
});
