// Stores and deletes tokens under the lock, for login and logout: both wait for a renewal in progress.

import { type CachedToken, cachePath, readToken, removeToken, writeToken } from "./token-cache.ts";
import { withLock } from "./token-lock.ts";

export const storeToken = (env: NodeJS.ProcessEnv, url: string, token: CachedToken): Promise<void> =>
  withLock(cachePath(env), () => writeToken(env, url, token));

/** Returns the deleted token, or null. */
export async function deleteToken(env: NodeJS.ProcessEnv, url: string): Promise<CachedToken | null> {
  if (readToken(env, url) === null) return null;
  return withLock(cachePath(env), () => {
    const kept = readToken(env, url);
    removeToken(env, url);
    return kept;
  });
}
