// How callers authenticate: by tokens of an identity provider, by tokens signed with a shared secret, or not at all. A provider
// takes precedence over a secret when both are configured.

import type { ConfigProblem } from "./problem.ts";
import { isLoopback } from "./schema/values.ts";
import { type EnvironmentVariables, readSecret, type SecretResult } from "./secret.ts";
import type { Settings } from "./table/index.ts";

interface TokenRules {
  /** The audience that tokens must have; `null` accepts any, which only a shared secret allows. */
  readonly clientId: string | null;
  readonly tenantClaim: string;
  readonly defaultTenant: string | null;
  /** Tolerated difference of the provider's clock. */
  readonly leewaySeconds: number;
  /** How long a verified token is accepted without another check. */
  readonly tokenCacheSeconds: number;
}

export type AuthConfig =
  | { readonly kind: "none" }
  | (TokenRules & { readonly kind: "hmac"; readonly secret: string })
  | (TokenRules & {
      readonly kind: "oidc";
      readonly issuer: string;
      readonly clientId: string;
      /** `null` when the provider is not asked about revocation. */
      readonly introspection: { readonly clientId: string; readonly clientSecret: string } | null;
    });

const HMAC_VARIABLE = "LATTICE_OIDC_HMAC_SECRET";
/** As long as the hash; a shorter secret would be the weaker part. */
const MIN_SECRET_LENGTH = 32;

type Api = Settings["api"];

export function authProblems(api: Api, environment: EnvironmentVariables): readonly ConfigProblem[] {
  const refuse = (key: string, message: string) => [{ path: `api.${key}`, message }];
  if (api.oidcIssuer !== null && api.oidcClientId === null)
    return refuse("oidc_client_id", "is required with oidc_issuer: it is the audience of the tokens");
  if (api.oidcClientSecret !== null) {
    if (api.oidcIssuer === null) return refuse("oidc_client_secret", "requires oidc_issuer");
    const secret = readSecret(api.oidcClientSecret, environment);
    if (secret.kind === "missing") return refuse("oidc_client_secret", secret.problem);
  }
  if (api.oidcIssuer !== null) return [];
  const secret = hmacSecret(api, environment);
  if (secret === null) return [];
  if (secret.kind === "missing") return refuse("oidc_hmac_secret", secret.problem);
  if (secret.value.length >= MIN_SECRET_LENGTH) return [];
  return refuse("oidc_hmac_secret", `must have at least ${MIN_SECRET_LENGTH} characters`);
}

export function authOf(api: Api, environment: EnvironmentVariables): AuthConfig {
  const rules = {
    tenantClaim: api.oidcTenantClaim,
    defaultTenant: api.oidcDefaultTenant,
    leewaySeconds: api.oidcLeewaySeconds,
    // A minute bounds the effect of a revocation where the provider is asked; without it, only its keys change, and seldom.
    tokenCacheSeconds: api.oidcTokenCacheSeconds ?? (api.oidcClientSecret === null ? 300 : 60),
  };
  const { oidcIssuer: issuer, oidcClientId: clientId } = api;
  if (issuer !== null && clientId !== null)
    return { kind: "oidc", issuer, clientId, introspection: introspectionOf(api, environment), ...rules };
  const secret = hmacSecret(api, environment);
  return secret?.kind === "found" ? { kind: "hmac", secret: secret.value, clientId, ...rules } : { kind: "none" };
}

/** Returns what the operator should know about the source of tokens; `null` when there is nothing to warn about. */
export function issuerWarning(auth: AuthConfig): string | null {
  if (auth.kind !== "oidc") return null;
  const { protocol, hostname } = new URL(auth.issuer);
  if (protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return null;
  const why = "an attacker on the path can replace the provider's keys and impersonate any user";
  return `api.oidc_issuer is ${auth.issuer}, without TLS: ${why}`;
}

function introspectionOf(api: Api, environment: EnvironmentVariables) {
  if (api.oidcClientSecret === null) return null;
  const secret = readSecret(api.oidcClientSecret, environment);
  if (secret.kind === "missing") return null;
  return { clientId: api.oidcIntrospectionClient ?? api.oidcClientId ?? "", clientSecret: secret.value };
}

function hmacSecret(api: Api, environment: EnvironmentVariables): SecretResult | null {
  if (api.oidcHmacSecret !== null) return readSecret(api.oidcHmacSecret, environment);
  const value = environment[HMAC_VARIABLE];
  return value === undefined || value === "" ? null : { kind: "found", value };
}
