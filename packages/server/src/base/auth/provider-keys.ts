// The keys of the identity provider. They are fetched when a token names an unknown key, and every ten minutes. While
// the provider is unavailable, the last keys stay in use for a day at most. A failed fetch is never a reason to call a
// token invalid.

import { ProblemError } from "@lattice/wire";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
} from "jose";

export const FETCH_TIMEOUT_MS = 5_000;
/** The shortest time between two fetches, also after a failed one. */
const COOLDOWN_MS = 10_000;
const MAX_AGE_MS = 600_000;
/** A key withdrawn while the page is unreachable must expire as well. */
export const LAST_GOOD_MS = 86_400_000;

/** Rejects with a ProblemError `identity_unavailable` when the keys must be fetched and the provider does not answer. */
export function providerKeys(url: URL): JWTVerifyGetKey {
  const cache: JWKSCacheInput = {};
  const remote = createRemoteJWKSet(url, {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: MAX_AGE_MS,
    [jwksCache]: cache,
  });
  let failed: { readonly atMs: number; readonly cause: unknown } | null = null;

  const lastGood: (cause: unknown) => JWTVerifyGetKey = (cause) => async (header, token) => {
    const keys = remote.jwks();
    const fetchedAtMs = "uat" in cache && typeof cache.uat === "number" ? cache.uat : 0;
    if (keys === undefined || Date.now() - fetchedAtMs > LAST_GOOD_MS) throw keysUnavailable(cause);
    try {
      return await createLocalJWKSet(keys)(header, token);
    } catch (error) {
      // The provider may have created the key since the last fetch.
      throw error instanceof errors.JWKSNoMatchingKey ? keysUnavailable(cause) : error;
    }
  };

  return async (header, token) => {
    if (failed !== null && Date.now() - failed.atMs < COOLDOWN_MS) return lastGood(failed.cause)(header, token);
    try {
      const key = await remote(header, token);
      failed = null;
      return key;
    } catch (cause) {
      if (!isProvidersFault(cause)) throw cause;
      failed = { atMs: Date.now(), cause };
      return lastGood(cause)(header, token);
    }
  };
}

/** No connection, no answer in time, a status other than 200, or an answer without keys. */
const isProvidersFault = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === errors.JOSEError.code;

const keysUnavailable = (cause: unknown): ProblemError =>
  unavailable("the identity provider's keys cannot be fetched", cause);

export const unavailable = (detail: string, cause: unknown): ProblemError =>
  new ProblemError("identity_unavailable", {
    detail: `Tokens cannot be checked: ${detail}${cause instanceof Error ? ` (${cause.message})` : ""}.`,
  });
