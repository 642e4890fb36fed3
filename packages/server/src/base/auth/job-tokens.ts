// The tokens of jobs where people's come from an identity provider: signed with a key of the cluster's own, under an issuer of
// its own, so that neither kind can pass for the other. They are good for a job's scope and nothing else, whatever they claim.

import type { View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Claims } from "./claims.ts";

/** No provider can be called this: its name is an address. */
export const JOB_ISSUER = "lattice:jobs";

/** The one that signs, and after it those before it that still count. Empty: the cluster has not made one yet. */
export type JobKeys = () => readonly string[];

/** Expired keys stay in the state until the next rotation, but no longer verify tokens. */
export function jobKeysOf(view: Pick<View, "secret" | "earlierSecrets">, now: number): readonly string[] {
  const newest = view.secret("jobs");
  if (newest === null) return [];
  const earlier = view.earlierSecrets("jobs").filter(({ until }) => until > now);
  return [newest, ...earlier.map(({ value }) => value)];
}

/** By what the token says of itself, which is checked afterwards. */
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
    throw new ProblemError("identity_unavailable", { detail: "This cluster has no key for the tokens of jobs yet." });
  const verified = await verifiedBy(token, known, { ...options, issuer: JOB_ISSUER, algorithms: ["HS256"] });
  if (!/^job:\S+$/.test(String(verified.payload.scope)))
    throw new ProblemError("unauthenticated", { detail: "The token is not valid: it is no job's." });
  return verified;
}

/** By the first that has signed it; there are few. */
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
