// The identity of a job: a token for whoever submitted it, with no role beyond a user's, that lasts as
// long as the job may. With it `lattice launch` works inside a job of a cluster that wants tokens.
// Only a cluster with a shared secret can make one; tokens of an identity provider are made there.

import { createHmac } from "node:crypto";
import type { AuthConfig } from "../config/auth.ts";

export interface TokenBearer {
  readonly user: string;
  readonly tenant: string;
  readonly allocationId: string;
  /** 0: no limit. */
  readonly walltimeSeconds: number;
}

/** "" when this cluster cannot make tokens, or wants none. */
export type JobToken = (bearer: TokenBearer) => string;

/** Beyond the walltime, for a launch that is being ended. */
const MARGIN_SECONDS = 600;
/** For a job without a walltime; it is given another with every start. */
const LONGEST_SECONDS = 30 * 86_400;

export function createJobToken(auth: AuthConfig, now: () => number): JobToken {
  if (auth.kind !== "hmac") return () => "";
  return ({ user, tenant, allocationId, walltimeSeconds }) => {
    const issuedAt = Math.floor(now() / 1_000);
    const lasts = walltimeSeconds === 0 ? LONGEST_SECONDS : walltimeSeconds + MARGIN_SECONDS;
    const claims = {
      sub: user,
      [auth.tenantClaim]: tenant,
      scope: `job:${allocationId}`,
      iat: issuedAt,
      exp: issuedAt + lasts,
      ...(auth.clientId === null ? {} : { aud: auth.clientId }),
    };
    const signed = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
    return `${signed}.${createHmac("sha256", auth.secret).update(signed).digest("base64url")}`;
  };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
