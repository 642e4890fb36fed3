// Talks to the identity provider that the server names: login by browser (PKCE), login by device code, renewal and
// revocation of tokens.

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
import { CALLBACK_URL, loginError, waitForCallback } from "./callback.ts";
import type { CachedToken } from "./token-cache.ts";
import { userIn } from "./token-claims.ts";

interface ProviderName {
  readonly issuer: string;
  readonly clientId: string;
}

export interface Login extends ProviderName {
  /** Requested in addition to the scopes that every login needs. */
  readonly scopes: readonly string[];
}

const SCOPES = ["openid", "offline_access"];
/** Limit per request. A renewal takes two, and other commands may wait for it. */
const REQUEST_TIMEOUT_S = 20;
/** Used when the provider names no lifetime. */
const DEFAULT_LIFETIME_S = 300;

/** Whether the provider supports login by device code. */
export const supportsDevice = async (name: ProviderName): Promise<boolean> =>
  (await discover(name)).serverMetadata().device_authorization_endpoint !== undefined;

const scopeOf = ({ scopes }: Login): string => [...new Set([...SCOPES, ...scopes])].join(" ");

/** How a login talks to the user. */
export interface LoginPrompts {
  readonly show: (text: string) => void;
  readonly wait: <T>(text: string, work: () => Promise<T>) => Promise<T>;
}

export async function logInByDevice(name: Login, { show, wait }: LoginPrompts): Promise<CachedToken> {
  const provider = await discover(name);
  const started = await initiateDeviceAuthorization(provider, { scope: scopeOf(name) }).catch(throwLoginError);
  show(`Open ${started.verification_uri} and enter the code ${started.user_code}`);
  const granted = await wait("Waiting for the code to be entered", () =>
    pollDeviceAuthorizationGrant(provider, started).catch(throwLoginError),
  );
  return cacheable(name, granted, null);
}

/** `open` shows the address to the user and opens a browser. */
export async function logInByBrowser(
  name: Login,
  open: (address: string) => void,
  wait: LoginPrompts["wait"],
): Promise<CachedToken> {
  const provider = await discover(name);
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
    return cacheable(name, await authorizationCodeGrant(provider, came, checks).catch(throwLoginError), null);
  };
  const back = waitForCallback({ state, accept });
  // A failure before `wait` runs must not be an unhandled rejection.
  back.catch(() => undefined);
  open(address.href);
  return wait("Waiting for the browser to come back", () => back);
}

/** Revokes both tokens. Returns false when the provider could not be reached or refused. */
export async function revokeToken(token: CachedToken): Promise<boolean> {
  try {
    const provider = await discover(token);
    if (token.refreshToken !== null) await tokenRevocation(provider, token.refreshToken);
    // Some providers cannot revoke signed access tokens; those expire within minutes.
    await tokenRevocation(provider, token.accessToken).catch(() => undefined);
    return true;
  } catch {
    return false;
  }
}

/** Throws when the provider refuses. */
export async function refreshToken(old: CachedToken): Promise<CachedToken> {
  const provider = await discover(old);
  return cacheable(old, await refreshTokenGrant(provider, old.refreshToken ?? ""), old);
}

function discover({ issuer, clientId }: ProviderName): Promise<Configuration> {
  const execute = issuer.startsWith("http://") ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, undefined, None(), { execute, timeout: REQUEST_TIMEOUT_S }).catch(
    throwLoginError,
  );
}

type Granted = TokenEndpointResponse & TokenEndpointResponseHelpers;

function cacheable(name: ProviderName, granted: Granted, before: CachedToken | null): CachedToken {
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

const throwLoginError = (error: unknown): never => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  throw loginError(`${error instanceof Error ? error.message : String(error)}${cause}`);
};
