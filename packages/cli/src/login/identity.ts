// Who calls. With a token that is the token's user, as the server will see it, whatever account the command runs
// under; "mine" and "me" mean that one. Without a token it is who the settings say.

import type { TokenSource } from "@lattice/sdk";
import type { Settings } from "../settings/settings.ts";
import { currentToken, tokenSource } from "./current-token.ts";
import { readToken } from "./token-cache.ts";
import { claimsOf, userIn } from "./token-claims.ts";

export interface Identified {
  readonly settings: Settings;
  /** Undefined: the server says whether it wants one. */
  readonly token: string | TokenSource | undefined;
}

export async function identify(settings: Settings, env: NodeJS.ProcessEnv): Promise<Identified> {
  const token = await currentToken(env, settings.url);
  if (token === undefined) return { settings, token };
  const user = userIn(claimsOf(token)) ?? keptUser(env, settings.url, token);
  const isKept = token !== env.LATTICE_TOKEN;
  return {
    settings: user === undefined ? settings : { ...settings, user },
    token: isKept ? tokenSource(env, settings.url) : token,
  };
}

/** A token that says nothing itself: who it belongs to was told at the login. */
function keptUser(env: NodeJS.ProcessEnv, url: string, token: string): string | undefined {
  const kept = readToken(env, url);
  return kept?.accessToken === token ? kept.user : undefined;
}
