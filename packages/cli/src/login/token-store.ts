// Changes of the file of tokens by people: a login, a logout. Each waits for a renewal that is under way.

import { type CachedToken, cachePath, dropToken, readToken, writeToken } from "./token-cache.ts";
import { withLock } from "./token-lock.ts";

export const keepToken = (env: NodeJS.ProcessEnv, url: string, token: CachedToken): Promise<void> =>
  withLock(cachePath(env), () => writeToken(env, url, token));

/** What was kept, or null. */
export async function forgetToken(env: NodeJS.ProcessEnv, url: string): Promise<CachedToken | null> {
  if (readToken(env, url) === null) return null;
  return withLock(cachePath(env), () => {
    const kept = readToken(env, url);
    dropToken(env, url);
    return kept;
  });
}
