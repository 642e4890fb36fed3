// Pages of other origins: allowed when they are configured and callers are authenticated, over HTTP, as a stream and by
// WebSocket; refused otherwise.

import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearerBy, SHARED_SECRET } from "./bearer.ts";
import { type Running, startTestApi } from "./clients.ts";

const PORTAL = "https://portal.example.org";
const ADA = bearerBy({ sub: "ada", tenant: "physics" });
let running: Running;

beforeAll(async () => {
  process.env.LATTICE_TEST_ORIGIN_SECRET = SHARED_SECRET;
  const api = { oidc_hmac_secret: "env://LATTICE_TEST_ORIGIN_SECRET", allowed_origins: [PORTAL] };
  running = await startTestApi({ api });
});
afterAll(async () => {
  delete process.env.LATTICE_TEST_ORIGIN_SECRET;
  await running.close();
});

const from = (origin: string, more: Record<string, string> = {}) => ({ headers: { origin, ...more } });

test("a preflight needs no token and lists the allowed headers", async () => {
  const asked = {
    method: "OPTIONS",
    headers: {
      origin: PORTAL,
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "authorization",
    },
  };
  const answer = await fetch(`${running.rest}/api/v1/allocations/1`, asked);
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  expect(answer.headers.get("access-control-allow-origin")).toBe(PORTAL);
  expect(answer.headers.get("access-control-allow-methods")).toContain("DELETE");
  expect(answer.headers.get("access-control-allow-headers")).toContain("authorization");
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  expect(answer.headers.get("vary")).toBe("origin");
});

test("the page can read answers, refusals and streams", async () => {
  const good = await fetch(`${running.rest}/api/v1/nodes`, from(PORTAL, ADA));
  expect([good.status, good.headers.get("access-control-allow-origin")]).toEqual([200, PORTAL]);
  const unknown = await fetch(`${running.rest}/api/v1/allocations/4711`, from(PORTAL, ADA));
  expect([unknown.status, unknown.headers.get("access-control-allow-origin")]).toEqual([404, PORTAL]);
  const nobody = await fetch(`${running.rest}/api/v1/nodes`, from(PORTAL));
  expect([nobody.status, nobody.headers.get("access-control-allow-origin")]).toEqual([401, PORTAL]);
  const abort = new AbortController();
  const stream = await fetch(`${running.rest}/api/v1/events`, { ...from(PORTAL, ADA), signal: abort.signal });
  expect([stream.status, stream.headers.get("access-control-allow-origin")]).toEqual([200, PORTAL]);
  abort.abort();
});

test("the server's own pages and other programs get no CORS headers", async () => {
  for (const headers of [{ ...ADA }, { ...ADA, origin: running.rest }]) {
    const answer = await fetch(`${running.rest}/api/v1/nodes`, { headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  }
});

test.each(["https://evil.example", `${PORTAL}.evil.example`, "http://portal.example.org", "null"])(
  "%s is turned away, before and with a token",
  async (origin) => {
    const asked = { origin, "access-control-request-method": "GET" };
    for (const init of [{ method: "OPTIONS", headers: asked }, from(origin, ADA)]) {
      const answer = await fetch(`${running.rest}/api/v1/nodes`, init);
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([403, null]);
      expect(await answer.text()).toContain("api.allowed_origins");
    }
  },
);

/** The status of an attempt to open a terminal. */
const upgrade = (origin: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(`${running.rest}/api/v1/allocations/4711/attach`, {
      headers: {
        ...ADA,
        origin,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    });
    asked.once("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.once("upgrade", (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.once("error", reject);
    asked.end();
  });

test("a WebSocket of an allowed page is served; of another it is refused", async () => {
  expect(await upgrade(PORTAL)).toBe(404);
  expect(await upgrade("https://evil.example")).toBe(403);
});

test.each([
  [["https://portal.example.org/app"], "must be an origin"],
  [["portal.example.org"], "must be an origin"],
  [["*"], "must be an origin"],
])("%s is not a valid origin", async (origins, why) => {
  const api = { oidc_hmac_secret: "env://LATTICE_TEST_ORIGIN_SECRET", allowed_origins: origins };
  await expect(startTestApi({ api })).rejects.toThrow(why);
});

test("without authentication no origin can be allowed", async () => {
  await expect(startTestApi({ api: { allowed_origins: [PORTAL] } })).rejects.toThrow("needs authentication");
});
