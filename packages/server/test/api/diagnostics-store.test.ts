// Diagnostics with a configured time-series store.

import { afterAll, beforeAll, expect, test } from "vitest";
import { callHttp, type Running, startTestApi } from "./clients.ts";

let running: Running;
beforeAll(async () => {
  running = await startTestApi({ telemetry: { store_url: "http://127.0.0.1:9" } });
});
afterAll(() => running.close());

test("missing values are not blamed on a missing store", async () => {
  const headers = { "content-type": "application/json", "x-lattice-user": "ada" };
  const body = JSON.stringify({ entrypoint: "true", nodes: 1 });
  const { id } = JSON.parse(
    (await callHttp(running, { method: "POST", path: "/api/v1/allocations", headers, body })).text,
  ) as { id: string };
  const { text } = await callHttp(running, { path: `/api/v1/allocations/${id}/diagnostics`, headers });
  const { unmeasured } = JSON.parse(text) as { unmeasured: { metric: string; reason: string }[] };
  expect(unmeasured.map(({ metric }) => metric)).toContain("network.bandwidth");
  expect(text).not.toContain("no time-series store");
  expect(unmeasured.find(({ metric }) => metric === "network.bandwidth")?.reason).toContain("The time-series store");
});
