// Job tokens: authenticated like user tokens, with the rights of their user, and invalid after the job. With an identity
// provider neither kind of token passes as the other.
import type { AllocationId, UserName } from "@lattice/core";
import { problemOf } from "@lattice/wire";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkJobAlive } from "../../../src/api/access/job-alive.ts";
import { createAuthenticator } from "../../../src/base/auth/authenticator.ts";
import { JOB_ISSUER } from "../../../src/base/auth/job-tokens.ts";
import type { Principal } from "../../../src/base/auth/principal.ts";
import type { AuthConfig } from "../../../src/base/config/index.ts";
import { createJobToken } from "../../../src/nodes/agents/job-token.ts";
import { callHttp, startTestApi } from "../../api/clients.ts";
import { type KeysServer, makeKey, type SigningKey, startKeysServer } from "../../api/keys-server.ts";

const hmac: AuthConfig = {
  kind: "hmac",
  secret: "a secret that is long enough for every use",
  clientId: "lattice",
  tenantClaim: "tenant",
  defaultTenant: null,
  leewaySeconds: 0,
  tokenCacheSeconds: 300,
};
const KEY = "k".repeat(43);
const bearer = { user: "ada", tenant: "physics", allocationId: "42" };
const ADA = { user: "ada", tenant: "physics", roles: ["User"], scopes: ["job:42"] };

const authenticate = (
  auth: AuthConfig,
  token: string,
  key: string | readonly string[] | null = KEY,
): Promise<Principal> =>
  Promise.resolve(
    createAuthenticator(auth, { jobKeys: () => (key === null ? [] : [key].flat()) }).authenticate((name) =>
      name === "authorization" ? `Bearer ${token}` : undefined,
    ),
  );
const outcome = (auth: AuthConfig, token: string, key?: string | readonly string[] | null): Promise<unknown> =>
  authenticate(auth, token, key).catch((error: unknown) => problemOf(error).code);

test("a job token by a shared secret has the identity of the submitter and nothing else", async () => {
  const token = createJobToken(hmac, Date.now, () => [])(bearer);
  expect(await authenticate(hmac, token)).toEqual(ADA);
});

test("a cluster without authentication, or without a key yet, issues no job tokens", async () => {
  expect(createJobToken({ kind: "none" }, Date.now, () => [KEY])(bearer)).toBe("");
});

describe("with an identity provider", () => {
  let provider: KeysServer;
  let key: SigningKey;
  beforeAll(async () => {
    key = await makeKey("one", "RS256");
    provider = await startKeysServer([key]);
  });
  afterAll(() => provider.close());
  const make = (secret = KEY, now = Date.now) => createJobToken(provider.auth, now, () => [secret])(bearer);
  const signed = (claims: Record<string, unknown>, secret: string, alg = "HS256") =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
  const claims = (more: Record<string, unknown> = {}) => provider.claims({ iss: JOB_ISSUER, scope: "job:42", ...more });

  test("a job token is signed with the cluster's key, without the provider", async () => {
    expect(await authenticate(provider.auth, make())).toEqual(ADA);
    const asking = { clientId: "x", clientSecret: "y" };
    expect(await authenticate({ ...provider.auth, introspection: asking }, make())).toEqual(ADA);
    expect(await outcome(provider.auth, await key.sign(provider.claims()))).toMatchObject({ user: "ada" });
  });

  test("a token with another key, without a key, or expired is refused", async () => {
    expect(createJobToken(provider.auth, Date.now, () => [])(bearer)).toBe("");
    expect(await outcome(provider.auth, make("l".repeat(43)))).toBe("unauthenticated");
    expect(await outcome(provider.auth, make(), null)).toBe("identity_unavailable");
    expect(
      await outcome(
        provider.auth,
        make(KEY, () => Date.now() - 31 * 86_400_000),
      ),
    ).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims({ aud: "other" }), KEY))).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims({ nbf: Date.now() }), KEY))).toBe("unauthenticated");
  });

  test("a rotated key is accepted while it is kept, and its cached tokens are dropped afterwards", async () => {
    const NEXT = "n".repeat(43);
    const old = make(KEY);
    expect(await outcome(provider.auth, old, [NEXT, KEY])).toEqual(ADA);
    expect(await outcome(provider.auth, make(NEXT), [NEXT, KEY])).toEqual(ADA);
    expect(await outcome(provider.auth, old, [NEXT])).toBe("unauthenticated");
    let keys: readonly string[] = [KEY];
    const context = createAuthenticator(provider.auth, { jobKeys: () => keys });
    const ask = async (token: string): Promise<unknown> =>
      Promise.resolve()
        .then(() => context.authenticate((name) => (name === "authorization" ? `Bearer ${token}` : undefined)))
        .catch((error: unknown) => problemOf(error).code);
    expect(await ask(old)).toEqual(ADA);
    keys = [NEXT, KEY];
    expect([await ask(old), await ask(make(NEXT))]).toEqual([ADA, ADA]);
    keys = [NEXT];
    expect([await ask(old), await ask(make(NEXT))]).toEqual(["unauthenticated", ADA]);
    // Signed with the removed key.
    expect(await ask(await signed(claims(), KEY))).toBe("unauthenticated");
  });

  test("the provider's key cannot sign job tokens, nor the cluster's key user tokens", async () => {
    // The issuer of jobs, by the provider's own key.
    expect(await outcome(provider.auth, await key.sign(claims()))).toBe("unauthenticated");
    // The issuer of jobs, with the provider's public key as a secret.
    expect(await outcome(provider.auth, await signed(claims(), key.pem))).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims(), JSON.stringify(key.jwk)))).toBe("unauthenticated");
    // The provider's issuer, or none, with the cluster's key.
    expect(await outcome(provider.auth, await signed(provider.claims(), KEY))).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims({ iss: undefined }), KEY))).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims({ iss: [JOB_ISSUER] }), KEY))).toBe("unauthenticated");
    expect(await outcome(provider.auth, await signed(claims(), KEY.padEnd(64, "k"), "HS512"))).toBe("unauthenticated");
  });

  test("a job token is limited to the scope of its job", async () => {
    for (const scope of ["admin", "job:42 admin", "job:", "", undefined, "readonly job:42"])
      expect(await outcome(provider.auth, await signed(claims({ scope }), KEY)), scope).toBe("unauthenticated");
    const roles = await authenticate(provider.auth, await signed(claims({ lattice_role: "system-admin" }), KEY));
    expect(roles.scopes).toEqual(["job:42"]);
  });
});

describe("lifetime of a job token", () => {
  const principal = (id: string, more: Partial<Principal> = {}): Principal => ({
    user: "ada" as UserName,
    tenant: "physics" as Principal["tenant"],
    roles: ["User"],
    scopes: [`job:${id}`],
    ...more,
  });

  test("a job token is valid only while its own job runs", async () => {
    const running = await startTestApi();
    const { plane } = running;
    plane.addNode("n1");
    const answer = await callHttp(running, {
      method: "POST",
      path: "/api/v1/allocations",
      headers: { "content-type": "application/json", "x-lattice-user": "ada", "x-lattice-tenant": "physics" },
      body: JSON.stringify({ entrypoint: "true", nodes: 1 }),
    });
    await running.close();
    const { id } = JSON.parse(answer.text) as { id: string };
    const check = (who: Principal) => () => checkJobAlive(who, plane.view());
    expect(check(principal(id))).not.toThrow();
    plane.start(id, ["n1"]);
    expect(check(principal(id))).not.toThrow();
    expect(check(principal(id, { user: "bob" as UserName }))).toThrow("has ended");
    expect(check(principal(id, { tenant: null }))).toThrow("has ended");
    plane.finish(id, 0);
    expect(plane.view().allocation(id as AllocationId)?.phase.kind).toBe("completed");
    expect(check(principal(id))).toThrow("has ended");
    expect(check(principal("4711"))).toThrow("has ended");
    expect(check(principal("../etc"))).toThrow("has ended");
    expect(check(principal(id, { scopes: ["readonly"] }))).not.toThrow();
  });
});
