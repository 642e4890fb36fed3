// Tokens with the provider's own keys, of both accepted algorithms: claims are checked as strictly as signatures.

import { problemOf } from "@lattice/wire";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createVerifier } from "../../src/base/auth/verify.ts";
import { type Algorithm, json, type KeysServer, makeKey, type SigningKey, startKeysServer } from "./keys-server.ts";

const ALGORITHMS: readonly Algorithm[] = ["RS256", "ES256"];
const keys = new Map<Algorithm, SigningKey>();
let provider: KeysServer;

beforeAll(async () => {
  for (const alg of ALGORITHMS) keys.set(alg, await makeKey(alg, alg));
  provider = await startKeysServer([...keys.values()]);
});
afterAll(() => provider.close());

const now = () => Math.floor(Date.now() / 1_000);
const keyOf = (alg: Algorithm): SigningKey => {
  const key = keys.get(alg);
  if (key === undefined) throw new Error(`no key ${alg}`);
  return key;
};

async function outcome(token: string, leewaySeconds = 0): Promise<unknown> {
  try {
    return (await createVerifier({ ...provider.auth, leewaySeconds }).verify(token)).sub;
  } catch (error) {
    return problemOf(error).code;
  }
}

describe.each(ALGORITHMS)("%s", (alg) => {
  const claimed = async (more: Record<string, unknown>, leeway = 0) =>
    outcome(await keyOf(alg).sign(provider.claims(more)), leeway);

  test("a token of the issuer for the audience within its validity is accepted", async () => {
    expect(await claimed({})).toBe("ada");
    expect(await claimed({ aud: ["other", "lattice"] })).toBe("ada");
    expect(await claimed({ nbf: now() - 1 })).toBe("ada");
  });

  test.each<[string, Record<string, unknown>]>([
    ["for another audience", { aud: "other-client" }],
    ["for no audience", { aud: undefined }],
    ["of another issuer", { iss: "http://127.0.0.1:1" }],
    ["of an issuer that only begins alike", { iss: "http://127.0.0.1" }],
    ["of no issuer", { iss: undefined }],
    ["expired", { exp: now() - 5 }],
    ["without an end", { exp: undefined }],
    ["whose end is no number", { exp: "tomorrow" }],
    ["not good yet", { nbf: now() + 60 }],
  ])("%s: refused", async (_, more) => {
    expect(await claimed(more)).toBe("unauthenticated");
  });

  test("clocks may differ by the leeway in both directions, and not by more", async () => {
    expect(await claimed({ exp: now() - 20 }, 30)).toBe("ada");
    expect(await claimed({ exp: now() - 40 }, 30)).toBe("unauthenticated");
    expect(await claimed({ nbf: now() + 20 }, 30)).toBe("ada");
    expect(await claimed({ nbf: now() + 40 }, 30)).toBe("unauthenticated");
  });

  test("a shared secret made of the public key is refused in every encoding", async () => {
    const { pem, jwk } = keyOf(alg);
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), pem.split("\n").slice(1, -2).join("")]) {
      for (const kid of [alg, undefined]) {
        const signing = new SignJWT(provider.claims({ scope: "admin" }));
        signing.setProtectedHeader({ alg: "HS256", ...(kid === undefined ? {} : { kid }) });
        const token = await signing.sign(new TextEncoder().encode(secret));
        expect(await outcome(token)).toBe("unauthenticated");
      }
    }
  });

  test("a signature of the other algorithm under this key's id is refused", async () => {
    const other = await makeKey(alg, alg === "RS256" ? "ES256" : "RS256");
    expect(await outcome(await other.sign(provider.claims()))).toBe("unauthenticated");
  });
});

test("an unsigned token is refused, however the algorithm is spelled", async () => {
  const unsigned = new UnsecuredJWT(provider.claims()).encode();
  expect(await outcome(unsigned)).toBe("unauthenticated");
  const [, payload] = unsigned.split(".");
  for (const alg of ["None", "NONE", "nOnE", "", "HS384", "PS256"]) {
    const header = Buffer.from(JSON.stringify({ alg, kid: "RS256" })).toString("base64url");
    for (const signature of ["", "AAAA"])
      expect(await outcome(`${header}.${payload}.${signature}`), alg).toBe("unauthenticated");
  }
});

test("keys inside a token, or that it points to, are not used", async () => {
  const own = await makeKey("RS256", "RS256");
  const claims = provider.claims();
  const [, payload, signature] = (await own.sign(claims)).split(".");
  for (const more of [{ jwk: own.jwk }, { jku: `${provider.issuer}/theirs` }, { x5u: `${provider.issuer}/theirs` }]) {
    const header = Buffer.from(JSON.stringify({ alg: "RS256", kid: "RS256", ...more })).toString("base64url");
    expect(await outcome(`${header}.${payload}.${signature}`)).toBe("unauthenticated");
  }
});

describe("the discovery document", () => {
  const PATH = "/.well-known/openid-configuration";
  const good = () => json({ issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys` });
  const withPage = async (page: ReturnType<typeof json>) => {
    provider.pages.set(PATH, page);
    try {
      return await outcome(await keyOf("ES256").sign(provider.claims()));
    } finally {
      provider.pages.set(PATH, good());
    }
  };

  test("redirects are not followed", async () => {
    let followed = false;
    provider.pages.set("/elsewhere", (request, response) => {
      followed = true;
      good()(request, response);
    });
    for (const status of [301, 302, 307, 308]) {
      const redirect = withPage((_, response) => void response.writeHead(status, { location: "/elsewhere" }).end());
      expect(await redirect, String(status)).toBe("identity_unavailable");
    }
    expect(followed).toBe(false);
  });

  test("is read again: moved keys are found, and the old address stays in use while the document is unavailable", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
    const [old, young] = [keyOf("ES256"), await makeKey("young", "ES256")];
    const verifier = createVerifier(provider.auth);
    const tell = async (key: SigningKey) =>
      verifier.verify(await key.sign(provider.claims())).then(
        ({ sub }) => sub,
        (error: unknown) => problemOf(error).code,
      );
    try {
      expect(await tell(old)).toBe("ada");
      provider.pages.set("/moved", json({ keys: [young.jwk] }));
      provider.pages.set(PATH, (_, response) => void response.writeHead(500).end());
      later(601_000);
      // The fetch fails in the background; no call waits for it.
      expect(await tell(old)).toBe("ada");
      provider.pages.set(PATH, json({ issuer: provider.issuer, jwks_uri: `${provider.issuer}/moved` }));
      later(11_000);
      await tell(old);
      await vi.waitFor(async () => expect(await tell(young)).toBe("ada"), 60_000);
      expect(await tell(old)).toBe("unauthenticated");
    } finally {
      vi.useRealTimers();
      provider.pages.set(PATH, good());
    }
  });

  test("must be of the configured issuer, and name its keys", async () => {
    const keysAt = { jwks_uri: `${provider.issuer}/keys` };
    expect(await withPage(json({ issuer: "http://127.0.0.1:1", ...keysAt }))).toBe("identity_unavailable");
    expect(await withPage(json({ issuer: provider.issuer }))).toBe("identity_unavailable");
    expect(await withPage((_, response) => void response.writeHead(500).end())).toBe("identity_unavailable");
    expect(await withPage(good())).toBe("ada");
  });
});
