// The tokens of jobs where people's come from an identity provider: signed with a key of the cluster's own, under an issuer of
// its own, so that neither kind can pass for the other. They are good for a job's scope and nothing else, whatever they claim.

import { ProblemError } from "@lattice/wire";
import { decodeJwt, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Claims } from "./claims.ts";

/** No provider can be called this: its name is an address. */
export const JOB_ISSUER = "lattice:jobs";

/** Null: the cluster has not made one yet. */
export type JobKey = () => string | null;

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
  key: JobKey,
  options: JWTVerifyOptions,
): Promise<{ readonly payload: Claims }> {
  const secret = key();
  if (secret === null)
    throw new ProblemError("identity_unavailable", { detail: "This cluster has no key for the tokens of jobs yet." });
  const bytes = new TextEncoder().encode(secret);
  const verified = await jwtVerify(token, bytes, { ...options, issuer: JOB_ISSUER, algorithms: ["HS256"] });
  if (!/^job:\S+$/.test(String(verified.payload.scope)))
    throw new ProblemError("unauthenticated", { detail: "The token is not valid: it is no job's." });
  return verified;
}
