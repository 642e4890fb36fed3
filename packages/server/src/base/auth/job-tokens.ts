// Job tokens in a cluster with an identity provider: signed with a key of the cluster, under their own issuer, so that
// neither kind of token can pass for the other. They are accepted only with the scope of a job.

import type { View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Claims } from "./claims.ts";

/** Not a URL, so no identity provider can have this name. */
export const JOB_ISSUER = "lattice:jobs";

/** Returns the signing key, then its unexpired predecessors; empty before the first key exists. */
export type JobKeys = () => readonly string[];

/** Expired keys stay in the state until the next rotation, but no longer verify tokens. */
export function jobKeysOf(view: Pick<View, "secret" | "earlierSecrets">, now: number): readonly string[] {
  const newest = view.secret("jobs");
  if (newest === null) return [];
  const earlier = view.earlierSecrets("jobs").filter(({ until }) => until > now);
  return [newest, ...earlier.map(({ value }) => value)];
}

/** By the unverified issuer claim; the signature is checked afterwards. */
export function isJobToken(token: string): boolean {
  try {
    return decodeJwt(token).iss === JOB_ISSUER;
  } catch {
    return false;
  }
}

/** Rejects with an error of the library, or with a ProblemError. */
export async function verifyJobToken(
  token: string,
  keys: JobKeys,
  options: JWTVerifyOptions,
): Promise<{ readonly payload: Claims }> {
  const known = keys();
  if (known.length === 0)
    throw new ProblemError("identity_unavailable", { detail: "This cluster has no key for job tokens yet." });
  const verified = await verifiedBy(token, known, { ...options, issuer: JOB_ISSUER, algorithms: ["HS256"] });
  if (!/^job:\S+$/.test(String(verified.payload.scope)))
    throw new ProblemError("unauthenticated", { detail: "The token is not valid: it has no job scope." });
  return verified;
}

/** Tries the keys in order; there are few. */
async function verifiedBy(
  token: string,
  [first = "", ...others]: readonly string[],
  options: JWTVerifyOptions,
): Promise<{ readonly payload: JWTPayload }> {
  try {
    return await jwtVerify(token, new TextEncoder().encode(first), options);
  } catch (error) {
    if (others.length === 0 || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    return verifiedBy(token, others, options);
  }
}
