// What a signed token says of itself, read without its key: good enough to show, to filter by and to know when it
// ends. The server alone decides whether any of it is true.

export type TokenClaims = Readonly<Record<string, unknown>>;

/** Undefined: not a signed token, so only its provider knows what it says. */
export function claimsOf(token: string): TokenClaims | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    return typeof claims === "object" && claims !== null ? (claims as TokenClaims) : undefined;
  } catch {
    return undefined;
  }
}

/** Longer ones, and those with spaces or control characters, are no user names to the server either. */
const USER_NAME = /^[!-~]{1,256}$/;

/** As the server reads it: the user's name where the provider gives one, else its subject. */
export function userIn(claims: TokenClaims | undefined): string | undefined {
  const name = [claims?.preferred_username, claims?.sub].find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" && USER_NAME.test(name) ? name : undefined;
}
