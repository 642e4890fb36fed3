// An identity provider whose keys cannot be fetched: no valid token is called invalid, and the last keys stay in use.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { problemOf } from "@lattice/wire";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LAST_GOOD_MS } from "../../src/base/auth/provider-keys.ts";
import { createVerifier, type Verifier } from "../../src/base/auth/verify.ts";

const MINUTES = 60_000;
const AUDIENCE = "lattice";

type Answer = (response: ServerResponse) => void;

let server: Server;
let issuer = "";
let keysPage: Answer;
let fetches = 0;
let verifier: Verifier;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  fetches = 0;
  server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    if (request.url === "/keys") {
      fetches += 1;
      return keysPage(response);
    }
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  verifier = createVerifier({
    kind: "oidc",
    issuer,
    clientId: AUDIENCE,
    introspection: null,
    leewaySeconds: 0,
    tokenCacheSeconds: 0,
    tenantClaim: "tenant",
    defaultTenant: null,
  });
});
afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});

const status =
  (code: number, body = ""): Answer =>
  (response) =>
    void response.writeHead(code, { location: "/elsewhere" }).end(body);

async function makeKey(kid: string, alg: "RS256" | "ES256" = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk = { ...(await exportJWK(publicKey)), kid, alg };
  const sign = () =>
    new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg, kid })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setExpirationTime(new Date(Date.now() + 2 * LAST_GOOD_MS))
      .sign(privateKey);
  return { jwk, sign };
}

const page = (...keys: object[]): Answer => status(200, JSON.stringify({ keys }));
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
const outcome = (token: string) =>
  verifier.verify(token).then(
    ({ sub }) => sub,
    (error: unknown) => problemOf(error).code,
  );

const BROKEN: readonly [string, Answer][] = [
  ["500", status(500)],
  ["503 with a page", status(503, "<html>")],
  ["a redirect", status(302)],
  ["200 without JSON", status(200, "<html>")],
  ["200 without keys", status(200, "{}")],
  ["a connection that breaks", (response) => void response.destroy()],
];

test.each(BROKEN)(
  "%s: the first token gets identity_unavailable, and is accepted once the keys can be fetched",
  async (_, broken) => {
    const key = await makeKey("one");
    const token = await key.sign();
    keysPage = broken;
    expect(await outcome(token)).toBe("identity_unavailable");
    keysPage = page(key.jwk);
    later(11_000);
    expect(await outcome(token)).toBe("ada");
  },
);

test.each(BROKEN)("%s after valid keys: the last keys stay in use for a day", async (_, broken) => {
  const key = await makeKey("one", "RS256");
  const other = await makeKey("two");
  const token = await key.sign();
  keysPage = page(key.jwk);
  expect(await outcome(token)).toBe("ada");
  keysPage = broken;
  later(11 * MINUTES);
  expect(await outcome(token)).toBe("ada");
  // The provider may have created the unknown key since the last fetch.
  expect(await outcome(await other.sign())).toBe("identity_unavailable");
  expect(await outcome(`${token.slice(0, -8)}AAAAAAAA`)).toBe("unauthenticated");
  later(LAST_GOOD_MS);
  expect(await outcome(token)).toBe("identity_unavailable");
});

test("a failed fetch is not repeated for every call", async () => {
  const key = await makeKey("one");
  const token = await key.sign();
  keysPage = page(key.jwk);
  await outcome(token);
  keysPage = status(500);
  later(11 * MINUTES);
  for (let call = 0; call < 5; call += 1) expect(await outcome(token)).toBe("ada");
  expect(fetches).toBe(2);
  later(11_000);
  await outcome(token);
  expect(fetches).toBe(3);
});

test("a new key is fetched, and a removed one is refused", async () => {
  const [old, young] = [await makeKey("old"), await makeKey("young", "RS256")];
  keysPage = page(old.jwk);
  expect(await outcome(await old.sign())).toBe("ada");
  keysPage = page(young.jwk);
  later(11_000);
  expect(await outcome(await young.sign())).toBe("ada");
  later(11_000);
  expect(await outcome(await old.sign())).toBe("unauthenticated");
});
