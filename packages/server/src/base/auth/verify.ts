// Verifies tokens: with the keys of the identity provider, or with a shared secret without a provider. Each way accepts

import { ProblemError } from "@lattice/wire";
import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import type { AuthConfig } from "../config/index.ts";
import type { Claims } from "./claims.ts";
import { introspect } from "./introspect.ts";
import { isJobToken, type JobKeys, verifyJobToken } from "./job-tokens.ts";
import { FETCH_TIMEOUT_MS, providerKeys, unavailable } from "./provider-keys.ts";

// only its own algorithms, so that a public key can never pass for a secret. Job tokens are signed by the cluster.

export interface Verifier {
  /** Rejects with a ProblemError: `unauthenticated`, or `identity_unavailable` when the provider does not answer. */
  verify(token: string): Promise<Claims>;
}

export function createVerifier(
  auth: Exclude<AuthConfig, { readonly kind: "none" }>,
  jobKeys: JobKeys = () => [],
): Verifier {
  const options: JWTVerifyOptions = {
    clockTolerance: auth.leewaySeconds,
    requiredClaims: ["exp"],
    ...(auth.clientId === null ? {} : { audience: auth.clientId }),
  };
  if (auth.kind === "hmac") {
    const secret = new TextEncoder().encode(auth.secret);
    return { verify: (token) => checked(() => jwtVerify(token, secret, { ...options, algorithms: ["HS256"] })) };
  }
  const provider = refreshed<Provider>({
    fetch: (before) => findProvider(auth.issuer, before),
    maxAgeMs: DISCOVERY_MAX_AGE_MS,
    cooldownMs: DISCOVERY_COOLDOWN_MS,
  });
  const known = { ...options, issuer: auth.issuer, algorithms: ["RS256", "ES256"] };
  const signed = (token: string) => checked(async () => jwtVerify(token, (await provider()).keys, known));
  const ofJob = (token: string) => checked(() => verifyJobToken(token, jobKeys, options));
  const { introspection } = auth;
  if (introspection === null) return { verify: (token) => (isJobToken(token) ? ofJob(token) : signed(token)) };
  return {
    async verify(token) {
      // The provider does not know job tokens.
      if (isJobToken(token)) return ofJob(token);
      const isSigned = token.split(".").length === 3;
      const claims = isSigned ? await signed(token) : null;
      const { introspection: endpoint } = await provider();
      const result = await introspect({ ...introspection, endpoint: endpoint ?? noEndpoint(auth.issuer) }, token);
      if (result.kind === "inactive") throw refused("it was revoked, or was not issued by the identity provider");
      if (claims !== null) return claims;
      if (result.kind === "unsupported") throw refused("the identity provider does not know it");
      return checkedClaims(result.claims, auth);
    },
  };
}

/** Checks the claims of an opaque token, which has no signature. */
function checkedClaims(
  claims: Claims,
  { clientId, issuer }: { readonly clientId: string; readonly issuer: string },
): Claims {
  const audiences = [claims.aud ?? claims.client_id].flat();
  if (!audiences.includes(clientId)) throw refused("it is for another audience");
  if (claims.iss !== undefined && claims.iss !== issuer) throw refused("it comes from another issuer");
  if (typeof claims.exp !== "number") throw refused("it has no expiry");
  return claims;
}

const refused = (why: string): ProblemError =>
  new ProblemError("unauthenticated", { detail: `The token is not valid: ${why}.` });

const noEndpoint = (issuer: string): never => {
  throw unavailable(`${issuer} names no introspection_endpoint`, null);
};

interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly keysAt: string;
  /** `null` when the provider has none. */
  readonly introspection: string | null;
}

/** A provider may change the address of its keys. */
const DISCOVERY_MAX_AGE_MS = 600_000;
const DISCOVERY_COOLDOWN_MS = 10_000;

async function findProvider(issuer: string, before: Provider | null): Promise<Provider> {
  const document = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  // A redirect could lead to the keys of an attacker.
  const answer = await fetch(document, { redirect: "error", signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw unavailable(`${document} does not answer`, cause);
    },
  );
  if (!answer.ok) throw unavailable(`${document} answers with ${answer.status}`, null);
  const found = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown; introspection_endpoint?: unknown };
  if (found.issuer !== issuer) throw unavailable(`${document} names another issuer, ${String(found.issuer)}`, null);
  if (typeof found.jwks_uri !== "string") throw unavailable(`${document} names no jwks_uri`, null);
  const { introspection_endpoint: introspection, jwks_uri: keysAt } = found;
  // Keep the cached keys while their address is unchanged.
  const keys = before?.keysAt === keysAt ? before.keys : providerKeys(new URL(keysAt));
  return { keys, keysAt, introspection: typeof introspection === "string" ? introspection : null };
}

async function checked(run: () => Promise<{ readonly payload: Claims }>): Promise<Claims> {
  try {
    return (await run()).payload;
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    if (!(error instanceof errors.JOSEError)) throw unavailable("the check itself failed", error);
    throw new ProblemError("unauthenticated", { detail: `The token is not valid: ${error.message}.` });
  }
}

// a refresh fails, the last value stays in use and the fetch is retried later. Callers wait for the first value only.

interface RefreshedOptions<T> {
  /** Receives the previous value, so that parts of it can be kept. */
  readonly fetch: (before: T | null) => Promise<T>;
  readonly maxAgeMs: number;
  /** The shortest time between two fetches. */
  readonly cooldownMs: number;
}

/** Rejects only before the first successful fetch; a failure is not cached. */
function refreshed<T>({ fetch, maxAgeMs, cooldownMs }: RefreshedOptions<T>): () => Promise<T> {
  let current: { readonly value: T; readonly atMs: number } | null = null;
  let under: Promise<T> | null = null;
  let triedAtMs = 0;

  function renew(): Promise<T> {
    triedAtMs = Date.now();
    under ??= fetch(current?.value ?? null)
      .then((value) => {
        current = { value, atMs: Date.now() };
        return value;
      })
      .finally(() => {
        under = null;
      });
    return under;
  }

  return async () => {
    if (current === null) return renew();
    const now = Date.now();
    if (now - current.atMs >= maxAgeMs && now - triedAtMs >= cooldownMs) renew().catch(() => undefined);
    return current.value;
  };
}
