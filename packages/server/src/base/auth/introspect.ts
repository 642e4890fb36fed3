// Token introspection (RFC 7662): for tokens that were revoked before they expire, and for opaque tokens. Runs when a
// token is first seen and again at an interval. Where a provider does not support it, the signature of a token decides.

import { ProblemError } from "@lattice/wire";
import type { Claims } from "./claims.ts";

interface IntrospectOptions {
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

type Introspection =
  | { readonly kind: "active"; readonly claims: Claims }
  | { readonly kind: "inactive" }
  /** The provider does not support introspection of this kind of token. */
  | { readonly kind: "unsupported" };

const REQUEST_TIMEOUT_MS = 5_000;

export async function introspect(options: IntrospectOptions, token: string): Promise<Introspection> {
  const { endpoint, clientId, clientSecret } = options;
  const proof = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
  let answer: Response;
  let body: Record<string, unknown>;
  try {
    answer = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Basic ${proof}` },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }),
      redirect: "error",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    body = (await answer.json()) as Record<string, unknown>;
  } catch (cause) {
    throw unavailable("does not answer", cause);
  }
  if (body.error === "unsupported_token_type") return { kind: "unsupported" };
  if (!answer.ok) throw unavailable(`answers with ${answer.status}`, null);
  return body.active === true ? { kind: "active", claims: body } : { kind: "inactive" };
}

const unavailable = (what: string, cause: unknown): ProblemError =>
  new ProblemError("identity_unavailable", {
    detail: `Tokens cannot be checked: the introspection endpoint of the identity provider ${what}.`,
    ...(cause === null ? {} : { cause }),
  });
