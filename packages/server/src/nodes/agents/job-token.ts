// The identity of a job: a token of its user, with the role of a user only, valid while the job runs. With it
// `lattice launch` works inside a job of a cluster that wants tokens. Signed with the shared secret where there is one; where
// tokens come from an identity provider, with a key of the cluster's own.

import { createHmac } from "node:crypto";
import { JOB_ISSUER, type JobKeys } from "../../base/auth/job-tokens.ts";
import type { AuthConfig } from "../../base/config/index.ts";

export interface TokenBearer {
  readonly user: string;
  readonly tenant: string;
  readonly allocationId: string;
}

/** "" when this cluster cannot make tokens yet, or wants none. */
export type JobToken = (bearer: TokenBearer) => string;

/**
 * Also how long a key that was followed by another can matter.
 * The end of the job ends it before: the walltime may be extended, and what a process was given cannot be exchanged. It is given
 * another with every start.
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
