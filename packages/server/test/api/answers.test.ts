// Hints in refusals and warnings: the login, the WebSocket of a terminal, the owner of the work, and features that no
// node has.

import { afterAll, beforeAll, expect, test } from "vitest";
import { bearerBy, SHARED_SECRET } from "./bearer.ts";
import { type Running, startTestApi } from "./clients.ts";

let running: Running;

beforeAll(async () => {
  process.env.LATTICE_ANSWERS_SECRET = SHARED_SECRET;
  running = await startTestApi({ api: { oidc_hmac_secret: "env://LATTICE_ANSWERS_SECRET" } });
  running.plane.addNode("n1");
});
afterAll(async () => {
  await running.close();
  delete process.env.LATTICE_ANSWERS_SECRET;
});

const ADA = bearerBy({ sub: "ada", tenant: "physics", roles: ["user"] });

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${running.rest}${path}`, { headers: ADA, ...init });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

const submit = (body: object, headers: HeadersInit = ADA) =>
  ask("/api/v1/allocations", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("401 has the way to log in", async () => {
  for (const headers of [{}, { authorization: "Bearer nonsense" }]) {
    const { status, headers: told } = await ask("/api/v1/allocations", { headers });
    expect([status, told.get("www-authenticate")]).toEqual([401, 'Bearer realm="lattice"']);
  }
});

test("a terminal without a WebSocket is 426", async () => {
  for (const path of ["/api/v1/allocations/1/attach", "/v1/sessions/1.1/terminal"]) {
    const { status, headers, body } = await ask(path);
    expect([status, headers.get("upgrade"), body.code]).toEqual([426, "websocket", "upgrade_required"]);
  }
});

test("403 names the owner", async () => {
  const { body } = await submit({ entrypoint: "true" });
  const cancel = (claims: object) =>
    ask(`/api/v1/allocations/${String(body.id)}`, { method: "DELETE", headers: bearerBy(claims) });
  const stranger = await cancel({ sub: "eve", tenant: "art", roles: ["user"] });
  expect(stranger).toMatchObject({ status: 403, body: { hint: expect.stringContaining("another tenant") } });
  const colleague = await cancel({ sub: "bob", tenant: "physics", roles: ["user"] });
  expect(colleague).toMatchObject({ status: 403, body: { hint: expect.stringContaining("another user") } });
});

test("a DAG may be submitted to the path of allocations", async () => {
  const allocations = [
    { name: "first", entrypoint: "true" },
    { name: "second", entrypoint: "true", depends_on: [{ ref: "first", condition: "success" }] },
  ];
  for (const body of [{ name: "two", allocations }, { dag: { name: "two", allocations } }]) {
    expect(await submit(body)).toMatchObject({ status: 200, body: { id: expect.stringMatching(/^dag-/) } });
  }
  expect(await submit({ allocations: [{ name: "a" }] })).toMatchObject({ status: 400 });
});

test("a feature that no node has gives a warning", async () => {
  const { status, body } = await submit({ entrypoint: "true", constraints: { features: ["nonsense"] } });
  expect([status, body.warnings]).toEqual([
    200,
    expect.arrayContaining([
      'no node has the feature "nonsense" (no node has any feature): it waits until nodes join that satisfy it',
    ]),
  ]);
});
