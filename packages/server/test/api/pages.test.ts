// The pages besides the RPCs, and the start and stop of the listeners.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApi } from "../../src/api/index.ts";
import { isOwnName } from "../../src/api/rest/origin.ts";
import { createAuthenticator } from "../../src/base/auth/authenticator.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { createLogger, createMetrics } from "../../src/base/observe/index.ts";
import { bearerBy, SHARED_SECRET } from "./bearer.ts";
import { callHttp, type Running, startTestApi } from "./clients.ts";
import { memoryPlane } from "./memory-plane.ts";

let running: Running;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(async () => {
  await running.close();
});

const json = async (path: string) => JSON.parse((await callHttp(running, { path })).text);

describe("public pages", () => {
  test("/healthz", async () => {
    expect(await json("/healthz")).toMatchObject({ status: "ok", server: "server-1", is_leader: true });
    expect((await callHttp(running, { method: "HEAD", path: "/healthz" })).status).toBe(200);
  });

  test("/readyz gives the reason", async () => {
    expect((await callHttp(running, { path: "/readyz" })).status).toBe(200);
    running.plane.readyReason = "no leader";
    const answer = await callHttp(running, { path: "/readyz" });
    running.plane.readyReason = "";
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toEqual({ ready: false, reason: "no leader" });
  });

  test("/metrics requires a token of a role that sees the cluster, where it is configured so", async () => {
    process.env.LATTICE_METRICS_TEST_SECRET = SHARED_SECRET;
    const closed = await startTestApi({
      api: { oidc_hmac_secret: "env://LATTICE_METRICS_TEST_SECRET", metrics_access: "token" },
    });
    const status = async (headers: Record<string, string>) =>
      (await callHttp(closed, { path: "/metrics", headers })).status;
    expect(await status({})).toBe(401);
    expect(await status(bearerBy({ sub: "eve", tenant: "art" }))).toBe(403);
    expect(await status(bearerBy({ sub: "mon", scope: "readonly" }))).toBe(200);
    await closed.close();
  });

  test("/metrics counts calls by RPC and outcome", async () => {
    await callHttp(running, { path: "/api/v1/nodes" });
    await callHttp(running, { path: "/api/v1/nodes/nope" });
    running.metrics.allocations({ pending: 2 });
    running.metrics.allocations({ running: 1 });
    const { text, headers } = await callHttp(running, { path: "/metrics" });
    expect(headers["content-type"]).toContain("text/plain");
    expect(text).toContain('lattice_api_requests_total{rpc="NodeService.ListNodes",code="ok"} 1');
    expect(text).toContain('lattice_api_requests_total{rpc="NodeService.GetNode",code="unknown_node"} 1');
    expect(text).toContain('lattice_allocations{state="running"} 1');
    expect(text).not.toContain('lattice_allocations{state="pending"}');
    expect(text).toContain("process_cpu_seconds_total");
  });

  test("discovery reports that there is no login", async () => {
    expect(await json("/api/v1/auth/discovery")).toMatchObject({ authentication: "none" });
  });

  test("the API description has no dangling references, and the page shows every path", async () => {
    const document = await json("/api/v1/openapi.json");
    expect(document.openapi).toMatch(/^3\.1/);
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of new Set(refs)) {
      const found = ref
        .split("/")
        .reduce((at: unknown, step) => (at as Record<string, unknown> | undefined)?.[step], document);
      expect(found, ref).toBeDefined();
    }
    const { text, headers } = await callHttp(running, { path: "/api/v1/docs" });
    expect(headers["content-type"]).toContain("text/html");
    for (const path of Object.keys(document.paths)) expect(text).toContain(path);
    expect(text).not.toMatch(/<script|src=|https?:\/\//);
  });
});

describe("starting and stopping", () => {
  const options = (api: Record<string, unknown>) => ({
    plane: memoryPlane(),
    config: loadConfig(null, { api: { rest_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0", ...api } }),
    logger: createLogger({ level: "silent" }),
    metrics: createMetrics(),
    authenticator: createAuthenticator({ kind: "none" }),
  });

  test("an unauthenticated API listens outside loopback only with permission", async () => {
    await expect(startApi(options({ rest_listen: "0.0.0.0:0" }))).rejects.toThrow(
      /Authentication is not configured, and 0\.0\.0\.0:0 .* api\.allow_unauthenticated: true/s,
    );
    const api = await startApi(options({ rest_listen: "0.0.0.0:0", allow_unauthenticated: true }));
    await api.close();
  });

  test("a port in use is reported, and the other listener is closed", async () => {
    const taken = running.api.grpcAddress;
    await expect(startApi(options({ grpc_listen: taken }))).rejects.toThrow(/Cannot listen on/);
    await expect(startApi(options({ rest_listen: running.api.restAddress }))).rejects.toThrow(/EADDRINUSE/);
  });

  test("running requests are answered, later ones are refused", async () => {
    const own = await startTestApi();
    const { propose } = own.plane;
    let arrived = false;
    let release = () => {};
    own.plane.propose = async (command) => {
      await new Promise<void>((resolve) => {
        release = resolve;
        arrived = true;
      });
      return propose(command);
    };
    const answer = callHttp(own, { method: "POST", path: "/v1/allocations", body: "entrypoint: hostname" });
    await expect.poll(() => arrived).toBe(true);
    const closed = own.close();
    await new Promise((resolve) => setTimeout(resolve, 30));
    release();
    expect((await answer).status).toBe(200);
    await closed;
    await expect(callHttp(own, { path: "/healthz" })).rejects.toThrow(/ECONNREFUSED/);
  });
});

test.each([
  ["127.0.0.1:8080", true],
  ["[::1]:8080", true],
  ["localhost", true],
  ["head-node:8080", true],
  ["a.localhost:1", true],
  ["evil.example:8080", false],
])("host %s is an own name: %s", (host, expected) => expect(isOwnName(host)).toBe(expected));
