// How callers prove who they are: by tokens of an identity provider, by tokens made with a shared
// secret, or not at all. A provider comes before a secret when both are there.

import { z } from "zod";
import { isLoopback } from "./listen.ts";
import { type Environment, readSecret } from "./secret.ts";

interface TokenRules {
  /** The audience tokens must be meant for; null: any, which only a shared secret allows. */
  readonly clientId: string | null;
  readonly tenantClaim: string;
  readonly defaultTenant: string | null;
  /** How far the provider's clock may be off. */
  readonly leewaySeconds: number;
  /** How long a token is believed before it is looked at again. */
  readonly believedSeconds: number;
}

export type AuthConfig =
  | { readonly kind: "none" }
  | (TokenRules & { readonly kind: "hmac"; readonly secret: string })
  | (TokenRules & {
      readonly kind: "oidc";
      readonly issuer: string;
      readonly clientId: string;
      /** Null: the provider is not asked about single tokens. */
      readonly introspection: { readonly clientId: string; readonly clientSecret: string } | null;
    });

/** RFC 6749, appendix A.4. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;
const MAX_SCOPES = 32;

/** Keys of the api section. */
export const authFields = {
  oidc_issuer: z.url({ protocol: /^https?$/, error: "is not a URL, for example https://id.example.com" }).optional(),
  oidc_client_id: z.string().min(1).optional(),
  /** What clients should ask the provider for when people log in, besides what every login needs. */
  oidc_scopes: z.array(z.string().regex(SCOPE, "must be a scope: one word")).max(MAX_SCOPES).default([]),
  /** A reference; the variable LATTICE_OIDC_HMAC_SECRET is looked at when there is none. */
  oidc_hmac_secret: z.string().min(1).optional(),
  oidc_tenant_claim: z.string().min(1).default("tenant"),
  oidc_default_tenant: z.string().min(1).optional(),
  oidc_leeway_seconds: z.number().int().min(0).max(300).default(30),
  /** A reference. With it the provider is asked whether tokens were revoked. */
  oidc_client_secret: z.string().min(1).optional(),
  /** Whom the provider knows this server as, when that is not oidc_client_id. */
  oidc_introspection_client: z.string().min(1).optional(),
  oidc_believed_seconds: z.number().int().min(1).max(300).optional(),
};

interface AuthFile {
  readonly oidc_issuer?: string | undefined;
  readonly oidc_client_id?: string | undefined;
  readonly oidc_hmac_secret?: string | undefined;
  readonly oidc_tenant_claim: string;
  readonly oidc_default_tenant?: string | undefined;
  readonly oidc_leeway_seconds: number;
  readonly oidc_client_secret?: string | undefined;
  readonly oidc_introspection_client?: string | undefined;
  readonly oidc_believed_seconds?: number | undefined;
}

const HMAC_VARIABLE = "LATTICE_OIDC_HMAC_SECRET";
/** As long as the hash, or the secret is what gives way first. */
const LEAST_SECRET_LENGTH = 32;

type Problem = { readonly path: string[]; readonly message: string };

export function authProblems(api: AuthFile, environment: Environment): readonly Problem[] {
  if (api.oidc_issuer !== undefined && api.oidc_client_id === undefined)
    return [{ path: ["oidc_client_id"], message: "must be given with oidc_issuer: tokens must be meant for us" }];
  if (api.oidc_client_secret !== undefined) {
    if (api.oidc_issuer === undefined)
      return [{ path: ["oidc_client_secret"], message: "is of no use without oidc_issuer" }];
    const secret = readSecret(api.oidc_client_secret, environment);
    if (secret.kind === "missing") return [{ path: ["oidc_client_secret"], message: secret.problem }];
  }
  if (api.oidc_issuer !== undefined) return [];
  const secret = hmacSecret(api, environment);
  if (secret === null) return [];
  if (secret.kind === "missing") return [{ path: ["oidc_hmac_secret"], message: secret.problem }];
  if (secret.value.length >= LEAST_SECRET_LENGTH) return [];
  return [{ path: ["oidc_hmac_secret"], message: `must have at least ${LEAST_SECRET_LENGTH} characters` }];
}

export function completeAuth(api: AuthFile, environment: Environment): AuthConfig {
  const rules = {
    tenantClaim: api.oidc_tenant_claim,
    defaultTenant: api.oidc_default_tenant ?? null,
    leewaySeconds: api.oidc_leeway_seconds,
    // A minute is what a revocation may take where the provider is asked; without, its keys change seldom.
    believedSeconds: api.oidc_believed_seconds ?? (api.oidc_client_secret === undefined ? 300 : 60),
  };
  const clientId = api.oidc_client_id ?? null;
  if (api.oidc_issuer !== undefined && clientId !== null)
    return {
      kind: "oidc",
      issuer: api.oidc_issuer,
      clientId,
      introspection: introspectionOf(api, environment),
      ...rules,
    };
  const secret = hmacSecret(api, environment);
  return secret?.kind === "found" ? { kind: "hmac", secret: secret.value, clientId, ...rules } : { kind: "none" };
}

/** What whoever runs the server should know about where tokens come from; null: nothing. */
export function issuerWarning(auth: AuthConfig): string | null {
  if (auth.kind !== "oidc") return null;
  const { protocol, hostname } = new URL(auth.issuer);
  if (protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return null;
  const why = "whoever is on the way to it can put keys of their own in its place, and be anybody here";
  return `api.oidc_issuer is ${auth.issuer}, without TLS: ${why}`;
}

function introspectionOf(api: AuthFile, environment: Environment) {
  if (api.oidc_client_secret === undefined) return null;
  const secret = readSecret(api.oidc_client_secret, environment);
  if (secret.kind === "missing") return null;
  return { clientId: api.oidc_introspection_client ?? api.oidc_client_id ?? "", clientSecret: secret.value };
}

function hmacSecret(api: AuthFile, environment: Environment) {
  if (api.oidc_hmac_secret !== undefined) return readSecret(api.oidc_hmac_secret, environment);
  const value = environment[HMAC_VARIABLE];
  return value === undefined || value === "" ? null : ({ kind: "found", value } as const);
}
