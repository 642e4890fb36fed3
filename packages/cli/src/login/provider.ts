// Talking to the identity provider that the server names: by a browser on this machine (PKCE), by a
// code that is entered on another device, and renewing what was given.

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenRevocation,
} from "openid-client";
import { CALLBACK_URL, refusal, waitForCallback } from "./callback.ts";
import type { CachedToken } from "./token-cache.ts";
import { userIn } from "./token-claims.ts";

export interface ProviderName {
  readonly issuer: string;
  readonly clientId: string;
}

export interface Login extends ProviderName {
  /** Asked for besides what every login needs. */
  readonly scopes: readonly string[];
}

const SCOPES = ["openid", "offline_access"];
/** Two answers make a login or a renewal, which others may wait for. */
const ANSWER_WITHIN_S = 20;
/** When the provider does not say. */
const DEFAULT_LIFETIME_S = 300;

/** Whether it gives codes that are entered on another device. */
export const offersDevice = async (name: ProviderName): Promise<boolean> =>
  (await find(name)).serverMetadata().device_authorization_endpoint !== undefined;

const scopeOf = ({ scopes }: Login): string => [...new Set([...SCOPES, ...scopes])].join(" ");

/** What a person is told, and what is shown while they do it. */
export interface Told {
  readonly show: (text: string) => void;
  readonly wait: <T>(text: string, work: () => Promise<T>) => Promise<T>;
}

export async function byDevice(name: Login, { show, wait }: Told): Promise<CachedToken> {
  const provider = await find(name);
  const started = await initiateDeviceAuthorization(provider, { scope: scopeOf(name) }).catch(failed);
  show(`Open ${started.verification_uri} and enter the code ${started.user_code}`);
  const granted = await wait("Waiting for the code to be entered", () =>
    pollDeviceAuthorizationGrant(provider, started).catch(failed),
  );
  return kept(name, granted, null);
}

/** `open` shows the address to the user, in a browser where there is one. */
export async function byBrowser(
  name: Login,
  open: (address: string) => void,
  wait: Told["wait"],
): Promise<CachedToken> {
  const provider = await find(name);
  const verifier = randomPKCECodeVerifier();
  const state = randomState();
  const address = buildAuthorizationUrl(provider, {
    redirect_uri: CALLBACK_URL,
    scope: scopeOf(name),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  });
  const accept = async (came: URL): Promise<CachedToken> => {
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    return kept(name, await authorizationCodeGrant(provider, came, checks).catch(failed), null);
  };
  const back = waitForCallback({ state, accept });
  // It may fail before anybody waits for it.
  back.catch(() => undefined);
  open(address.href);
  return wait("Waiting for the browser to come back", () => back);
}

/** Both tokens are good for nothing from here on, as far as the provider can see to it. */
export async function revoke(token: CachedToken): Promise<boolean> {
  try {
    const provider = await find(token);
    if (token.refreshToken !== null) await tokenRevocation(provider, token.refreshToken);
    // Signed tokens cannot be called back by every provider; they end within minutes.
    await tokenRevocation(provider, token.accessToken).catch(() => undefined);
    return true;
  } catch {
    return false;
  }
}

/** Throws when the provider will not. */
export async function refreshed(old: CachedToken): Promise<CachedToken> {
  const provider = await find(old);
  return kept(old, await refreshTokenGrant(provider, old.refreshToken ?? ""), old);
}

function find({ issuer, clientId }: ProviderName): Promise<Configuration> {
  const execute = issuer.startsWith("http://") ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, undefined, None(), { execute, timeout: ANSWER_WITHIN_S }).catch(failed);
}

type Granted = TokenEndpointResponse & TokenEndpointResponseHelpers;

function kept(name: ProviderName, granted: Granted, before: CachedToken | null): CachedToken {
  const user = userIn(granted.claims()) ?? before?.user;
  return {
    accessToken: granted.access_token,
    refreshToken: granted.refresh_token ?? before?.refreshToken ?? null,
    expiresAtMs: Date.now() + (granted.expires_in ?? DEFAULT_LIFETIME_S) * 1_000,
    issuer: name.issuer,
    clientId: name.clientId,
    ...(user === undefined ? {} : { user }),
  };
}

const failed = (error: unknown): never => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  throw refusal(`${error instanceof Error ? error.message : String(error)}${cause}`);
};
