// Authenticates the callers of the API. A verified token is cached by its hash until it expires, because verification
// costs more than the rest of a small call.

import { createHash } from "node:crypto";
import { ProblemError } from "@lattice/wire";
import type { AuthConfig } from "../config/index.ts";
import { type Certificates, certified } from "./certified.ts";
import { type Claims, principalOf } from "./claims.ts";
import type { JobKeys } from "./job-tokens.ts";
import type { Headers, Principal } from "./principal.ts";
import { statedPrincipal } from "./stated.ts";
import { createVerifier } from "./verify.ts";

export interface Authenticator {
  /**
   * Synchronous when the token is cached. Throws or rejects with a ProblemError. `servers`: certificates of servers are
   * accepted as well, which act for themselves only. Default: false.
   */
  authenticate(headers: Headers, servers?: boolean): Principal | Promise<Principal>;
  /** Verifies the token again, for streams that stay open. */
  again(headers: Headers): Promise<Principal>;
}

interface CachedToken {
  readonly principal: Principal;
  readonly untilMs: number;
}

interface RefusedToken {
  readonly error: ProblemError;
  readonly untilMs: number;
}

/** A refused token may become valid, when clocks differ or a new key of the provider arrives. */
const REFUSED_MS = 2_000;
/** Verifications that run at once; each may wait for the identity provider. */
const MAX_VERIFYING = 64;
/** The size of the cache; the oldest token is evicted first. */
const MAX_CACHED = 10_000;
/** No real token is longer. */
const MAX_TOKEN_LENGTH = 16_384;

interface AuthenticatorOptions {
  readonly now?: () => number;
  /** Keys of job tokens, for a cluster with an identity provider. */
  readonly jobKeys?: JobKeys;
  /** Default: client certificates are not accepted. */
  readonly certificates?: Certificates;
}

export function createAuthenticator(
  auth: AuthConfig,
  { now = Date.now, jobKeys = () => [], certificates }: AuthenticatorOptions = {},
): Authenticator {
  if (auth.kind === "none")
    return { authenticate: statedPrincipal, again: async (headers) => statedPrincipal(headers) };
  // Narrowed once for the functions below.
  const rules = auth;
  const verifier = createVerifier(auth, jobKeys);
  const cache = new Map<string, CachedToken>();
  const refused = new Map<string, RefusedToken>();
  let verifying = 0;
  let keys = jobKeys();

  /** Cached tokens may depend on a key that has expired, and refused ones on a key that is new. */
  function forgetOldKeys(): void {
    const before = keys;
    keys = jobKeys();
    if (!before.every((key) => keys.includes(key))) cache.clear();
    if (!keys.every((key) => before.includes(key))) refused.clear();
  }

  /**
   * An unknown token may cost a question to the provider: the same one is not asked again, nor too many at once. A token
   * that was valid before is verified also while there are too many others.
   */
  async function verify(token: string, key: string, wasValid: boolean): Promise<Principal> {
    const before = refused.get(key);
    if (before !== undefined && now() < before.untilMs) throw before.error;
    if (!wasValid && verifying >= MAX_VERIFYING)
      throw new ProblemError("rate_limited", {
        detail: "Too many unknown tokens are being verified.",
        retryAfterSeconds: 1,
      });
    verifying += 1;
    try {
      return await verifyNow(token, key);
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code === "unauthenticated") {
        if (refused.size >= MAX_CACHED) refused.delete(refused.keys().next().value ?? "");
        refused.set(key, { error, untilMs: now() + REFUSED_MS });
      }
      throw error;
    } finally {
      verifying -= 1;
    }
  }

  async function verifyNow(token: string, key: string): Promise<Principal> {
    const claims = await verifier.verify(token);
    const result = principalOf(claims, rules);
    if (result.kind === "unusable")
      throw new ProblemError("unauthenticated", { detail: `The token ${result.detail}.` });
    if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? "");
    cache.set(key, {
      principal: result.principal,
      untilMs: Math.min(expiry(claims), now() + rules.tokenCacheSeconds * 1_000),
    });
    return result.principal;
  }

  /** Returns `null` without a certificate, or with a token, which has precedence. */
  function byCertificate(headers: Headers, servers = false): Principal | null {
    if (certificates === undefined || (headers("authorization") ?? "") !== "") return null;
    const shown = headers.certificate?.() ?? null;
    const { defaultTenant } = rules;
    return shown === null ? null : certified(shown, certificates, { defaultTenant, now: now(), servers });
  }

  return {
    authenticate(headers, servers) {
      const program = byCertificate(headers, servers);
      if (program !== null) return program;
      const token = bearer(headers);
      const key = hashOf(token);
      forgetOldKeys();
      const known = cache.get(key);
      if (known !== undefined && now() < known.untilMs) return known.principal;
      cache.delete(key);
      return verify(token, key, known !== undefined);
    },
    async again(headers) {
      const program = byCertificate(headers);
      if (program !== null) return program;
      const token = bearer(headers);
      return verify(token, hashOf(token), true);
    },
  };
}

const expiry = (claims: Claims): number => (typeof claims.exp === "number" ? claims.exp * 1_000 : 0);
const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64");

function bearer(headers: Headers): string {
  const header = headers("authorization");
  if (header === undefined || header === "")
    throw new ProblemError("unauthenticated", { detail: "This cluster requires a token, and the call has none." });
  const token = /^bearer +([\w.~+/=-]+)$/i.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH)
    throw new ProblemError("unauthenticated", { detail: "The authorization header is not a bearer token." });
  return token;
}
