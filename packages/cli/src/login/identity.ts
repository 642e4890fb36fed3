// Resolves the calling user. With a token it is the token's user, as the server sees it, whatever account the command
// runs under; "mine" and "me" mean that user. Without a token the settings decide.

import type { TokenSource } from "@lattice/sdk";
import type { CliSettings } from "../settings/settings.ts";
import { currentToken, tokenSource } from "./current-token.ts";
import { readToken } from "./token-cache.ts";
import { claimsOf, userIn } from "./token-claims.ts";

interface Identity {
  readonly settings: CliSettings;
  /** `undefined` when there is none; the server decides whether it needs one. */
  readonly token: string | TokenSource | undefined;
}

export async function resolveIdentity(settings: CliSettings, env: NodeJS.ProcessEnv): Promise<Identity> {
  const token = await currentToken(env, settings.url);
  if (token === undefined) return { settings, token };
  const user = userIn(claimsOf(token)) ?? cachedUser(env, settings.url, token);
  const isKept = token !== env.LATTICE_TOKEN;
  return {
    settings: user === undefined ? settings : { ...settings, user },
    token: isKept ? tokenSource(env, settings.url) : token,
  };
}

/** The user of an opaque token, as the provider named it at login. */
function cachedUser(env: NodeJS.ProcessEnv, url: string, token: string): string | undefined {
  const kept = readToken(env, url);
  return kept?.accessToken === token ? kept.user : undefined;
}
