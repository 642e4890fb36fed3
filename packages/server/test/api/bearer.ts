// Tokens signed with a shared secret, for tests.

import { createHmac } from "node:crypto";

export const SHARED_SECRET = "a-secret-of-at-least-thirty-two-characters";

export function tokenBy(claims: object, secret = SHARED_SECRET): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1_000);
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iat: now, exp: now + 600, ...claims })}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

export const bearerBy = (claims: object): { readonly authorization: string } => ({
  authorization: `Bearer ${tokenBy(claims)}`,
});
