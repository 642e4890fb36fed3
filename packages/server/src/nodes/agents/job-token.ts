// The identity of a job: a token of its user, with the role of a user only, valid while the job runs. `lattice
// launch` uses it inside a job of a cluster with authentication. It is signed with the shared secret or, with an identity
// provider, with a key of the cluster.

import { createHmac } from "node:crypto";
import { JOB_ISSUER, type JobKeys } from "../../base/auth/job-tokens.ts";
import type { AuthConfig } from "../../base/config/index.ts";

interface TokenBearer {
  readonly user: string;
  readonly tenant: string;
  readonly allocationId: string;
}

/** Returns the token; empty without authentication, or while the cluster has no key. */
export type JobToken = (bearer: TokenBearer) => string;

/**
 * Longer than jobs run: a walltime may be extended, and the token of a running process cannot be replaced. It is refused
 * after the end of the job, and every start gets a new one. A replaced key stays valid for as long.
 */
export const JOB_TOKEN_SECONDS = 30 * 86_400;

export function createJobToken(auth: AuthConfig, now: () => number, keys: JobKeys): JobToken {
  if (auth.kind === "none") return () => "";
  return ({ user, tenant, allocationId }) => {
    const secret = auth.kind === "hmac" ? auth.secret : keys()[0];
    if (secret === undefined) return "";
    const issuedAt = Math.floor(now() / 1_000);
    const claims = {
      ...(auth.kind === "oidc" ? { iss: JOB_ISSUER } : {}),
      sub: user,
      [auth.tenantClaim]: tenant,
      scope: `job:${allocationId}`,
      iat: issuedAt,
      exp: issuedAt + JOB_TOKEN_SECONDS,
      ...(auth.clientId === null ? {} : { aud: auth.clientId }),
    };
    const signed = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
