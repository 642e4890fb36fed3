// Reads the claims of a signed token without verifying it: enough to show the user, to filter lists and to know the
// expiry. Only the server verifies tokens.

type TokenClaims = Readonly<Record<string, unknown>>;

/** Returns `undefined` for an opaque token. */
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

/** The server's rule for user names: no spaces, no control characters, at most 256 characters. */
const USER_NAME = /^[!-~]{1,256}$/;

/** Returns the user as the server does: the preferred user name, or else the subject. */
export function userIn(claims: TokenClaims | undefined): string | undefined {
  const name = [claims?.preferred_username, claims?.sub].find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" && USER_NAME.test(name) ? name : undefined;
}
