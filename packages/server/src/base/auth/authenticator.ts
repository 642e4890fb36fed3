// The one hook that says who calls. A token that was verified is remembered by its hash until it
// expires, because verifying one costs more than the rest of a small call.

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
  /** At once when the token is known. Throws or rejects with a ProblemError. */
  authenticate(headers: Headers): Principal | Promise<Principal>;
  /** Verifies the token again, for streams that stay open. */
  again(headers: Headers): Promise<Principal>;
}

interface Remembered {
  readonly principal: Principal;
  readonly untilMs: number;
}

/** Cache size; beyond it the oldest tokens are verified again when they return. */
const MAX_REMEMBERED = 10_000;
/** Larger ones are not tokens. */
const MAX_TOKEN_LENGTH = 16_384;

export interface AuthenticatorOptions {
  readonly now?: () => number;
  /** Of the tokens of jobs, where there is a provider. */
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
  const remembered = new Map<string, Remembered>();
  let keys = jobKeys();

  /** A key that counts no more counts for nothing that was believed because of it. */
  function forgetOldKeys(): void {
    const before = keys;
    keys = jobKeys();
    if (!before.every((key) => keys.includes(key))) remembered.clear();
  }

  async function verify(token: string, key: string): Promise<Principal> {
    const claims = await verifier.verify(token);
    const result = principalOf(claims, rules);
    if (result.kind === "unusable")
      throw new ProblemError("unauthenticated", { detail: `The token ${result.detail}.` });
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
    remembered.set(key, {
      principal: result.principal,
      untilMs: Math.min(expiry(claims), now() + rules.tokenCacheSeconds * 1_000),
    });
    return result.principal;
  }

  /** Returns `null` without a certificate, or with a token, which has precedence. */
  function byCertificate(headers: Headers): Principal | null {
    if (certificates === undefined || (headers("authorization") ?? "") !== "") return null;
    const shown = headers.certificate?.() ?? null;
    const { defaultTenant } = rules;
    return shown === null ? null : certified(shown, certificates, { defaultTenant, now: now() });
  }

  return {
    authenticate(headers) {
      const program = byCertificate(headers);
      if (program !== null) return program;
      const token = bearer(headers);
      const key = hashOf(token);
      forgetOldKeys();
      const known = remembered.get(key);
      if (known !== undefined && now() < known.untilMs) return known.principal;
      remembered.delete(key);
      return verify(token, key);
    },
    async again(headers) {
      const program = byCertificate(headers);
      if (program !== null) return program;
      const token = bearer(headers);
      return verify(token, hashOf(token));
    },
  };
}

const expiry = (claims: Claims): number => (typeof claims.exp === "number" ? claims.exp * 1_000 : 0);
const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64");

function bearer(headers: Headers): string {
  const header = headers("authorization");
  if (header === undefined || header === "")
    throw new ProblemError("unauthenticated", { detail: "This cluster wants a token, and the call has none." });
  const token = /^bearer +([\w.~+/=-]+)$/i.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH)
    throw new ProblemError("unauthenticated", { detail: "The authorization header is not a bearer token." });
  return token;
}
