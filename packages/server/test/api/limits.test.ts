// Rate limits, limits on concurrent streams, and slow clients. Refusals come at once, say when to retry, and do not
// affect other callers.

import { get } from "node:http";
import { connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { TenantId, UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createBuckets } from "../../src/api/limits/buckets.ts";
import { createGate } from "../../src/api/limits/gate.ts";
import { describeLimit } from "../../src/api/limits/rpc-limits.ts";
import type { Principal } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { callGrpc, callHttp, callRest, type Running, startTestApi, streamGrpc } from "./clients.ts";

const someone = (user: string, tenant: string | null = "physics"): Principal => ({
  user: user as UserName,
  tenant: tenant as TenantId | null,
  roles: ["User"],
  scopes: [],
});
const limits = loadConfig(null).rateLimits;

describe("a bucket", () => {
  test("allows its burst, then its rate, and returns the time to wait", () => {
    const buckets = createBuckets();
    const rate = { burst: 3, perSecond: 2 };
    expect([0, 0, 0].map((at) => buckets.take("a", rate, at))).toEqual([0, 0, 0]);
    expect(buckets.take("a", rate, 0)).toBe(500);
    expect(buckets.take("b", rate, 0)).toBe(0);
    expect(buckets.take("a", rate, 500)).toBe(0);
    expect(buckets.take("a", rate, 600)).toBe(400);
  });

  test("full buckets are evicted, so that memory stays bounded", () => {
    const buckets = createBuckets(100);
    const rate = { burst: 1, perSecond: 1 };
    for (let i = 0; i < 1_000; i++) buckets.take(`caller ${i}`, rate, i * 10);
    expect(buckets.size).toBeLessThanOrEqual(100);
  });
});

describe("the gate", () => {
  const refusal = (act: () => unknown) => {
    try {
      act();
    } catch (error) {
      return (error as { problem: Record<string, unknown> }).problem;
    }
    return null;
  };

  test("the documented limits are the defaults, per user", () => {
    const gate = createGate({ limits: () => limits, identified: false, now: () => 0 });
    for (const [rpc, most] of [
      ["AllocationService.QueryMetrics", 60],
      ["AllocationService.GetDiagnostics", 30],
      ["AllocationService.CompareMetrics", 10],
    ] as const) {
      for (let i = 0; i < most; i++) gate.enter(someone("ada"), rpc);
      expect(
        refusal(() => gate.enter(someone("ada"), rpc)),
        rpc,
      ).toMatchObject({
        code: "rate_limited",
        retryAfterSeconds: 60 / most,
      });
      expect(refusal(() => gate.enter(someone("bob"), rpc))).toBeNull();
    }
    for (const [rpc, most] of [
      ["AllocationService.StreamLogs", 10],
      ["AllocationService.StreamMetrics", 5],
    ] as const) {
      const leave = Array.from({ length: most }, () => gate.open(someone("ada"), rpc));
      const refused = refusal(() => gate.open(someone("ada"), rpc));
      expect(refused?.detail).toBe(
        `maximum concurrent streams reached (${most}/${most}). Close an existing stream to open a new one.`,
      );
      leave[0]?.();
      expect(refusal(() => gate.open(someone("ada"), rpc))).toBeNull();
    }
    expect(describeLimit("SessionService.Attach", true, limits)).toBe("5 at once");
  });

  test("calls per user and per tenant are limited only with authentication", () => {
    const refused = vi.fn();
    const small = { ...limits, userRequestsPerSecond: 2, tenantRequestsPerSecond: 3, tenants: { tiny: 1 } };
    const gate = createGate({ limits: () => small, identified: true, now: () => 0, refused });
    const enter = (user: string, tenant = "physics") =>
      refusal(() => gate.enter(someone(user, tenant), "AllocationService.Submit"))?.code ?? "ok";
    expect(Array.from({ length: 5 }, () => enter("ada"))).toEqual(["ok", "ok", "ok", "ok", "rate_limited"]);
    // Two of the tenant's six are left.
    expect([enter("bob"), enter("bob"), enter("bob")]).toEqual(["ok", "ok", "rate_limited"]);
    expect([enter("eve", "tiny"), enter("eve", "tiny"), enter("eve", "tiny")]).toEqual(["ok", "ok", "rate_limited"]);
    expect(refused.mock.calls.flat()).toEqual([
      "user_requests_per_second",
      "tenant_requests_per_second",
      "tenant_requests_per_second",
    ]);
    const open = createGate({ limits: () => small, identified: false, now: () => 0 });
    for (let i = 0; i < 10_000; i++) open.enter(someone("ada"), "AllocationService.Submit");
  });
});

describe("over the wire", () => {
  const SECRET = "a secret of more than thirty-two characters";
  let running: Running;
  let token = "";
  beforeAll(async () => {
    process.env.LATTICE_LIMIT_SECRET = SECRET;
    token = await new SignJWT({ sub: "ada", tenant: "default" })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime("5m")
      .sign(new TextEncoder().encode(SECRET));
    running = await startTestApi({
      api: { oidc_hmac_secret: "env://LATTICE_LIMIT_SECRET" },
      rate_limits: { user_requests_per_second: 2 },
    });
  });
  afterAll(() => running.close());

  test("429 with Retry-After, RESOURCE_EXHAUSTED with the same, and a counter in /metrics", async () => {
    const headers = { authorization: `Bearer ${token}` };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => callHttp(running, { path: "/api/v1/nodes", headers })),
    );
    const late = answers.find(({ status }) => status === 429);
    expect(late?.headers["retry-after"]).toBe("1");
    expect(JSON.parse(late?.text ?? "")).toMatchObject({ code: "rate_limited", retry_after_seconds: 1, status: 429 });
    const overGrpc = await callGrpc(running, "NodeService.ListNodes", create(pb.ListNodesRequestSchema), headers);
    expect(overGrpc).toMatchObject({ problem: { code: "rate_limited", retryAfterSeconds: 1 } });
    expect(await running.metrics.render()).toMatch(
      /lattice_api_rate_limited_total\{limit="user_requests_per_second"\} \d+/,
    );
  });
});

describe("slow clients", () => {
  let running: Running;
  afterEach(() => running.close());

  async function startFlood(): Promise<{ ended: () => boolean }> {
    running = await startTestApi({ rate_limits: { stalled_stream_timeout: "1s", stream_logs_max_concurrent: 1 } });
    running.plane.addNode("n1");
    await callRest(running, { method: "POST", path: "/v1/allocations", body: "{entrypoint: yes}" });
    running.plane.start("1", ["n1"]);
    let ended = false;
    running.plane.output = async function* () {
      try {
        const data = Buffer.alloc(65_536, "y");
        for (let offset = data.length; ; offset += data.length) yield { data, offset };
      } finally {
        ended = true;
      }
    };
    return { ended: () => ended };
  }

  test("a follower that reads nothing is disconnected with the reason, and its slot is free again", async () => {
    const { ended } = await startFlood();
    const path = "/v1/allocations/1/logs/stream?format=sse&stream=stdout";
    const text = await new Promise<string>((resolve, reject) => {
      get(`${running.rest}${path}`, (response) => {
        response.pause();
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve(Buffer.concat(chunks).subarray(-2_000).toString()));
        response.on("error", reject);
        response.on("pause", () => undefined);
        const wait = setInterval(() => {
          if (!ended()) return;
          clearInterval(wait);
          response.resume();
        }, 20);
        response.pause();
      });
    });
    expect(text).toContain("stream_stalled");
    expect(await running.metrics.render()).toContain(
      'lattice_api_streams_stalled_total{rpc="AllocationService.StreamLogs"} 1',
    );
    running.plane.output = async function* () {};
    expect((await callHttp(running, { path: "/v1/allocations/1/logs/stream?node=n1" })).status).toBe(200);
  });

  test("over gRPC as well", async () => {
    const { ended } = await startFlood();
    const request = create(pb.LogsRequestSchema, { id: "1", stream: pb.LogStream.STDOUT });
    const follower = streamGrpc(running, "AllocationService.StreamLogs", request)[Symbol.asyncIterator]();
    await follower.next();
    await vi.waitFor(() => expect(ended()).toBe(true), 60_000);
    const drain = async () => {
      for (let next = await follower.next(); next.done !== true; next = await follower.next());
    };
    await expect(drain()).rejects.toMatchObject({
      code: 8,
      details: expect.stringContaining("has not read the stream"),
    });
  });

  test("slow headers and endless headers are refused", async () => {
    running = await startTestApi({ api: { headers_timeout: "1500ms" } });
    const port = Number(running.api.restAddress.split(":").at(-1));
    const said = (write: (socket: ReturnType<typeof connect>) => void) =>
      new Promise<string>((resolve) => {
        let text = "";
        const socket = connect(port, "127.0.0.1", () => write(socket));
        socket.on("data", (data) => {
          text += data.toString();
        });
        socket.on("error", () => undefined);
        socket.on("close", () => resolve(text));
      });
    const slow = await said((socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
      const drip = setInterval(() => socket.write("x"), 50);
      socket.once("close", () => clearInterval(drip));
    });
    expect(slow).toMatch(/^HTTP\/1.1 504 [\s\S]*"deadline_exceeded"/);
    const large = await said((socket) =>
      socket.write(`GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(20_000)}\r\n\r\n`),
    );
    expect(large).toMatch(/^HTTP\/1.1 431 [\s\S]*"headers_too_large"/);
    expect((await callHttp(running, { path: "/healthz" })).status).toBe(200);
  });
});
