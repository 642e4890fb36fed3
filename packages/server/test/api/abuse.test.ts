// Attacks by an authenticated user: another user's terminal, files of the server or a node through names, and
// identities through headers. Everything is refused, and nothing changes.

import { request } from "node:http";
import { protocolsWith } from "@lattice/wire";
import { SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callHttp, type Running, startTestApi } from "./clients.ts";

const SECRET = "a secret of more than thirty-two characters";
let running: Running;
let opened = 0;

const tokenFor = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(SECRET));

async function call(token: string, method: string, path: string, body?: object, more: Record<string, string> = {}) {
  const answer = await callHttp(running, {
    method,
    path: `/api/v1${path}`,
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: answer.text };
}

let ada = "";
let eve = "";
let root = "";

beforeAll(async () => {
  process.env.LATTICE_ABUSE_SECRET = SECRET;
  running = await startTestApi({ api: { oidc_hmac_secret: "env://LATTICE_ABUSE_SECRET" } });
  ada = await tokenFor({ sub: "ada", tenant: "default" });
  eve = await tokenFor({ sub: "eve", tenant: "default" });
  root = await tokenFor({ sub: "root", scope: "admin" });
  running.plane.addNode("n1");
  expect((await call(ada, "POST", "/allocations", { entrypoint: "sleep 60" })).status).toBe(200);
  running.plane.start("1", ["n1"]);
  await call(ada, "POST", "/sessions", { allocation_id: "1" });
  running.plane.screen = async function* () {
    opened += 1;
    yield* [];
  };
});
afterAll(() => running.close());

function upgrade(path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${running.rest}${path}`, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": Buffer.alloc(16).toString("base64"),
        ...headers,
      },
    });
    asked.on("response", (response) => resolve(response.statusCode ?? 0));
    asked.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("a WebSocket with another user's session or allocation, or without a token, is refused", async () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  expect(await upgrade("/api/v1/sessions/1.1/terminal", bearer(eve))).toBe(403);
  expect(await upgrade("/api/v1/allocations/1/attach", bearer(eve))).toBe(403);
  expect(await upgrade("/api/v1/allocations/1/attach", bearer(root))).toBe(403);
  const asPage = (token: string) => ({ "sec-websocket-protocol": protocolsWith(token).join(", ") });
  expect(await upgrade("/api/v1/sessions/1.1/terminal?user=ada", asPage(eve))).toBe(403);
  expect(await upgrade("/api/v1/sessions/1.1/terminal", asPage(`${ada}x`))).toBe(401);
  // A token in the address is not accepted.
  expect(await upgrade(`/api/v1/sessions/1.1/terminal?access_token=${ada}`, {})).toBe(401);
  expect(await upgrade("/api/v1/sessions/1.1/terminal?user=ada", { "x-lattice-user": "ada" })).toBe(401);
  expect(await upgrade("/api/v1/sessions/1.1/terminal", bearer(`${ada}x`))).toBe(401);
  const reader = await tokenFor({ sub: "ada", tenant: "default", scope: "allocations:read" });
  expect(await upgrade("/api/v1/sessions/1.1/terminal", bearer(reader))).toBe(403);
  expect(opened).toBe(0);
});

test("names that are paths reach no file", async () => {
  const before = running.plane.hash();
  let asked = 0;
  running.plane.output = async function* () {
    asked += 1;
    yield* [];
  };
  for (const node of ["../../etc/passwd", "..%2f..%2fetc", "n1/../n2", "n1\u0000"])
    expect((await call(ada, "GET", `/allocations/1/logs?node=${encodeURIComponent(node)}`)).status).toBeGreaterThan(
      399,
    );
  for (const id of ["..%2f..%2f1", "1%2f..%2f1", "%2e%2e", "1_..%2f1"])
    expect((await call(ada, "GET", `/allocations/${id}/logs`)).status).toBe(404);
  expect(asked).toBe(0);
  for (const target of ["../../etc", "/../etc", "/data/../../etc", "relative", "/proc/self"]) {
    const mounts = [{ source: "/scratch/ada", target }];
    const refused = await call(ada, "POST", "/allocations", { entrypoint: "true", data: { mounts } });
    expect([refused.status, target]).toEqual([400, target]);
  }
  for (const place of ["/etc", "/etc/../root", "../../etc", "s3://other/bucket"]) {
    expect((await call(root, "POST", "/admin/backup", { destination: place })).status).toBe(400);
    const source = `${place}/backup-20260305T120000Z.tar.gz`;
    for (const path of ["/admin/backup/verify", "/admin/restore"])
      expect((await call(root, "POST", path, { source })).status).toBe(400);
  }
  expect(running.plane.hash()).toBe(before);
});

test("headers change neither the user nor the tenant", async () => {
  const injected = {
    "x-lattice-user": "ada",
    "x-lattice-tenant": "physics",
    "x-lattice-agent": "%7B%22names%22%3A%5B%22n1%22%5D%7D",
    "x-forwarded-user": "ada",
  };
  expect((await call(eve, "DELETE", "/allocations/1", undefined, injected)).status).toBe(403);
  const made = await call(eve, "POST", "/allocations", { entrypoint: "true" }, injected);
  const { id } = JSON.parse(made.text) as { id: string };
  const shown = await call(eve, "GET", `/allocations/${id}`);
  expect(JSON.parse(shown.text)).toMatchObject({ user: "eve", spec: { tenant: "default" } });
});
