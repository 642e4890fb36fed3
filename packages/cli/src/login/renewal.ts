// A kept token made anew, once, however many commands find at the same moment that it is about to end: a provider that
// gives a new renewal with each token takes one that comes twice for stolen, and calls all of them back.

import { refreshed } from "./provider.ts";
import { type CachedToken, cachePath, isGood, readToken, writeToken } from "./token-cache.ts";
import { withLock } from "./token-lock.ts";

/** Within one command requests wait for each other without the file. */
const underWay = new Map<string, Promise<string | undefined>>();

/** The old one when the provider will not: it may still do. */
export function renewed(
  env: NodeJS.ProcessEnv,
  url: string,
  old: CachedToken,
  refused?: string,
): Promise<string | undefined> {
  const known = underWay.get(url);
  if (known !== undefined) return known;
  const work = renewedAlone(env, url, refused)
    .catch(() => old.accessToken)
    .finally(() => underWay.delete(url));
  underWay.set(url, work);
  return work;
}

function renewedAlone(env: NodeJS.ProcessEnv, url: string, refused?: string): Promise<string | undefined> {
  return withLock(cachePath(env), async () => {
    // Another command may have been faster.
    const kept = readToken(env, url);
    if (kept === null) return undefined;
    if (isGood(kept, refused) || kept.refreshToken === null) return kept.accessToken;
    const token = await refreshed(kept);
    writeToken(env, url, token);
    return token.accessToken;
  });
}
