// Authentication: tokens of a real OpenID provider, tokens signed with a shared secret, and attacks. A refusal changes
// nothing.

import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callHttp, type Running, startTestApi } from "./clients.ts";
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";

const SUBMISSION = { entrypoint: "true", nodes: 1 };

async function call(running: Running, method: string, path: string, token: string | null, more = {}) {
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...more };
  const body = method === "POST" ? JSON.stringify(SUBMISSION) : undefined;
  const answer = await callHttp(running, {
    method,
    path: `/api/v1${path}`,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
}

describe("with an OpenID provider", () => {
  let provider: IdentityProvider;
  let running: Running;

  beforeAll(async () => {
    provider = await startIdentityProvider({ tenant: "physics", preferred_username: "ada" });
    running = await startTestApi({ api: { oidc_issuer: provider.issuer, oidc_client_id: AUDIENCE } });
  });
  afterAll(async () => {
    await running.close();
    await provider.close();
  });

  test("the discovery page is public and names the provider", async () => {
    const { status, body } = await call(running, "GET", "/auth/discovery", null);
    expect(status).toBe(200);
    expect(body).toEqual({
      authentication: "oidc",
      idp_url: provider.issuer,
      issuer: provider.issuer,
      client_id: AUDIENCE,
    });
  });

  test("a missing or invalid token is 401 and changes nothing", async () => {
    const before = running.plane.hash();
    for (const headers of [{}, { authorization: "Basic YWRhOmFkYQ==" }, { authorization: "Bearer" }]) {
      const { status, body } = await call(running, "POST", "/allocations", null, headers);
      expect(status).toBe(401);
      expect(body).toMatchObject({ code: "unauthenticated" });
    }
    expect(running.plane.hash()).toBe(before);
  });

  test("a user submits as itself in the tenant of the token, whatever the headers state", async () => {
    const token = await provider.token("");
    const { status, body } = await call(running, "POST", "/allocations", token, {
      "x-lattice-user": "eve",
      "x-lattice-tenant": "biology",
    });
    expect(status).toBeLessThan(300);
    const found = await call(running, "GET", `/allocations/${String(body.id)}`, token);
    expect(found.body).toMatchObject({ user: "ada", spec: { tenant: "physics" } });
  });

  test("another tenant cannot be named in the submission", async () => {
    const token = await provider.token("");
    const before = running.plane.hash();
    const answer = await callHttp(running, {
      method: "POST",
      path: "/api/v1/allocations",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...SUBMISSION, tenant: "biology" }),
    });
    expect(answer.status).toBe(403);
    expect(running.plane.hash()).toBe(before);
  });

  test("scopes decide: a user may not create tenants, an administrator may", async () => {
    const tenant = async (scope: string) => {
      const answer = await callHttp(running, {
        method: "POST",
        path: "/api/v1/tenants",
        headers: { "content-type": "application/json", authorization: `Bearer ${await provider.token(scope)}` },
        body: JSON.stringify({ id: "chemistry" }),
      });
      return answer.status;
    };
    for (const scope of ["", "tenant:admin", "operator", "readonly", "sensitive:claim"])
      expect(await tenant(scope), scope).toBe(403);
    expect(await tenant("admin")).toBe(200);
  });

  test("read-only tokens read and do not write", async () => {
    const token = await provider.token("readonly");
    expect((await call(running, "GET", "/allocations", token)).status).toBe(200);
    expect((await call(running, "POST", "/allocations", token)).status).toBe(403);
  });

  test("another key, no algorithm, and a secret made of the public key are refused", async () => {
    const claims = { sub: "ada", tenant: "physics", scope: "admin" };
    const { privateKey } = await generateKeyPair("RS256");
    const sign = (jwt: SignJWT) => jwt.setIssuer(provider.issuer).setAudience(AUDIENCE).setExpirationTime("5m");
    const foreign = await sign(new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "x" })).sign(privateKey);
    const none = new UnsecuredJWT(claims)
      .setIssuer(provider.issuer)
      .setAudience(AUDIENCE)
      .setExpirationTime("5m")
      .encode();
    const keys = await (await fetch(`${provider.issuer}/jwks`)).text();
    const secret = new TextEncoder().encode(keys.padEnd(64));
    const confused = await sign(new SignJWT(claims).setProtectedHeader({ alg: "HS256" })).sign(secret);
    const genuine = await provider.token("admin");
    const [header = "", payload = "", signature = ""] = genuine.split(".");
    const raised = Buffer.from(payload, "base64url").toString().replace('"ada"', '"root"');
    const forged = [header, Buffer.from(raised).toString("base64url"), signature].join(".");
    for (const token of [foreign, none, confused, forged, `${genuine}x`, "a.b.c", genuine.slice(0, -8)]) {
      const { status, body } = await call(running, "GET", "/allocations", token);
      expect(status, token.slice(0, 40)).toBe(401);
      expect(JSON.stringify(body)).not.toContain(token);
    }
    expect((await call(running, "GET", "/allocations", genuine)).status).toBe(200);
  });
});

describe("with a shared secret", () => {
  const SECRET = "a secret of more than thirty-two characters";
  let running: Running;
  const sign = (claims: Record<string, unknown>, expiry: string | number = "5m", secret = SECRET) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime(expiry)
      .sign(new TextEncoder().encode(secret));

  beforeAll(async () => {
    process.env.LATTICE_TEST_SECRET = SECRET;
    running = await startTestApi({
      api: { oidc_hmac_secret: "env://LATTICE_TEST_SECRET", oidc_client_id: "lattice", oidc_leeway_seconds: 0 },
    });
  });
  afterAll(() => running.close());

  test("a valid token is accepted; an expired, early, foreign or endless one, or another secret, is refused", async () => {
    const base = { sub: "ada", tenant: "physics", aud: "lattice" };
    const now = Math.floor(Date.now() / 1000);
    const good = await sign(base);
    expect((await call(running, "GET", "/allocations", good)).status).toBe(200);
    const bad = [
      await sign(base, now - 10),
      await sign({ ...base, nbf: now + 600 }),
      await sign({ ...base, aud: "other-client" }),
      await sign({ sub: "ada", tenant: "physics" }),
      await sign(base, "5m", "another secret of more than thirty-two characters"),
      await new SignJWT(base).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(SECRET)),
      await sign({ ...base, sub: "two words" }),
      await sign({ ...base, tenant: "../etc" }),
    ];
    for (const token of bad) expect((await call(running, "GET", "/allocations", token)).status).toBe(401);
  });

  test("a token is cached until it expires, not longer", async () => {
    const end = Math.floor(Date.now() / 1000) + 5;
    const token = await sign({ sub: "ada", tenant: "physics", aud: "lattice" }, end);
    expect((await call(running, "GET", "/allocations", token)).status).toBe(200);
    expect((await call(running, "GET", "/allocations", token)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, end * 1000 - Date.now() + 100));
    expect((await call(running, "GET", "/allocations", token)).status).toBe(401);
  });

  test("roles of other systems count without a scope", async () => {
    running.plane.addNode("n1");
    const drain = async (claims: Record<string, unknown>) => {
      const token = await sign({ sub: "ada", tenant: "physics", aud: "lattice", ...claims });
      const path = "/api/v1/nodes/n1/drain";
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      return (await callHttp(running, { method: "POST", path, headers, body: "{}" })).status;
    };
    expect(await drain({})).toBe(403);
    expect(await drain({ lattice_role: "system-admin", scope: "readonly" })).toBe(403);
    for (const scope of ["allocations:read", "openid allocations:attach", "allocations:wriet"]) {
      expect(await drain({ lattice_role: "system-admin", scope }), scope).toBe(403);
    }
    expect(await drain({ pact_role: "operator" })).toBe(200);
    expect(await drain({ lattice_role: "system-admin" })).toBe(200);
  });
});

describe("the configuration", () => {
  test("a secret that is short, missing or literal is refused by name", async () => {
    process.env.LATTICE_TEST_SHORT = "short";
    for (const [secret, why] of [
      ["env://LATTICE_TEST_SHORT", /at least 32 characters/],
      ["env://LATTICE_TEST_NOT_THERE", /LATTICE_TEST_NOT_THERE is not set/],
      ["file:///nowhere/at/all", /cannot be read \(ENOENT\)/],
      ["a secret that is written into the file itself", /is not a reference/],
    ] as const) {
      await expect(startTestApi({ api: { oidc_hmac_secret: secret } })).rejects.toThrow(why);
    }
  });

  test("a provider without a client id is refused", async () => {
    await expect(startTestApi({ api: { oidc_issuer: "https://id.example.com" } })).rejects.toThrow(/oidc_client_id/);
  });

  test("a provider that does not answer is 503, not 401", async () => {
    const api = { oidc_issuer: "http://127.0.0.1:9", oidc_client_id: "lattice" };
    const running = await startTestApi({ api });
    const { status, body } = await call(running, "GET", "/allocations", "a.b.c");
    expect([status, body.code]).toEqual([503, "identity_unavailable"]);
    await running.close();
  });
});
