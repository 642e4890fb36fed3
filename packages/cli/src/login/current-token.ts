// The token of a command: LATTICE_TOKEN, or the cached token of the last login, renewed when it is about to expire.
// A command may run without a token; the server rejects it if it needs one.

import type { TokenSource } from "@lattice/sdk";
import { localToken } from "./local-socket.ts";
import { isUsable, readToken } from "./token-cache.ts";

/** `refused` is a token that the server rejected before its expiry. */
export async function currentToken(env: NodeJS.ProcessEnv, url: string, refused?: string): Promise<string | undefined> {
  const stated = env.LATTICE_TOKEN;
  if (stated !== undefined && stated !== "") return stated;
  const local = await localToken(url.split(",")[0] ?? "", refused);
  if (local !== undefined) return local;
  const kept = readToken(env, url);
  if (kept === null) return undefined;
  if (isUsable(kept, refused) || kept.refreshToken === null) return kept.accessToken;
  // Imported here because most calls need no provider and its library is slow to load.
  const { renewToken: renewed } = await import("./renewal.ts");
  return renewed(env, url, kept, refused);
}

/** For commands that run longer than a token is valid: each request takes the current one. */
export const tokenSource =
  (env: NodeJS.ProcessEnv, url: string): TokenSource =>
  (refused) =>
    currentToken(env, url, refused);
