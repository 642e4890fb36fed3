// Renews a cached token exactly once, however many commands find it expiring at the same moment: a provider that
// rotates refresh tokens treats one that is used twice as stolen and revokes the whole family.

import { refreshToken } from "./provider.ts";
import { type CachedToken, cachePath, isUsable, readToken, writeToken } from "./token-cache.ts";
import { withLock } from "./token-lock.ts";

/** Requests of one command share a renewal in memory; other commands wait for the file lock. */
const inFlight = new Map<string, Promise<string | undefined>>();

/** Returns the old token when the provider refuses: it may still be valid. */
export function renewToken(
  env: NodeJS.ProcessEnv,
  url: string,
  old: CachedToken,
  refused?: string,
): Promise<string | undefined> {
  const known = inFlight.get(url);
  if (known !== undefined) return known;
  const work = renewUnderLock(env, url, refused)
    .catch(() => old.accessToken)
    .finally(() => inFlight.delete(url));
  inFlight.set(url, work);
  return work;
}

function renewUnderLock(env: NodeJS.ProcessEnv, url: string, refused?: string): Promise<string | undefined> {
  return withLock(cachePath(env), async () => {
    // Another command may have renewed it while this one waited for the lock.
    const kept = readToken(env, url);
    if (kept === null) return undefined;
    if (isUsable(kept, refused) || kept.refreshToken === null) return kept.accessToken;
    const token = await refreshToken(kept);
    writeToken(env, url, token);
    return token.accessToken;
  });
}
