// The token a command is to use: the variable's, or the one kept from the last login, made anew by the
// provider when it is about to end. None is fine: the server says whether it wants one.

import { readToken } from "./token-cache.ts";

/** One that ends during the call is as good as none. */
const LEAST_LEFT_MS = 10_000;

export async function currentToken(env: NodeJS.ProcessEnv, url: string): Promise<string | undefined> {
  const stated = env.LATTICE_TOKEN;
  if (stated !== undefined && stated !== "") return stated;
  const kept = readToken(env, url);
  if (kept === null) return undefined;
  if (kept.expiresAtMs - Date.now() > LEAST_LEFT_MS || kept.refreshToken === null) return kept.accessToken;
  // Only here, because most calls need no provider, and its library takes a while to load.
  const { renew } = await import("./provider.ts");
  return (await renew(env, url, kept))?.accessToken ?? kept.accessToken;
}
