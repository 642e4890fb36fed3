// The token a command is to use: the variable's, or the one kept from the last login, made anew by the
// provider when it is about to end. None is fine: the server says whether it wants one.

import type { TokenSource } from "@lattice/sdk";
import { isGood, readToken } from "./token-cache.ts";

/** `refused`: the server did not take this one, however long it was to be good. */
export async function currentToken(env: NodeJS.ProcessEnv, url: string, refused?: string): Promise<string | undefined> {
  const stated = env.LATTICE_TOKEN;
  if (stated !== undefined && stated !== "") return stated;
  const kept = readToken(env, url);
  if (kept === null) return undefined;
  if (isGood(kept, refused) || kept.refreshToken === null) return kept.accessToken;
  // Only here, because most calls need no provider, and its library takes a while to load.
  const { renewed } = await import("./renewal.ts");
  return renewed(env, url, kept, refused);
}

/** For commands that outlive a token: every request has the one that counts then. */
export const tokenSource =
  (env: NodeJS.ProcessEnv, url: string): TokenSource =>
  (refused) =>
    currentToken(env, url, refused);
