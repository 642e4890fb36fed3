// Talking to the identity provider that the server names: by a browser on this machine (PKCE), by a
// code that is entered on another device, and renewing what was given.

import { createServer } from "node:http";
import { ProblemError } from "@lattice/wire";
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
import { type CachedToken, writeToken } from "./token-cache.ts";
import { userIn } from "./token-claims.ts";

export interface ProviderName {
  readonly issuer: string;
  readonly clientId: string;
}

export interface Login extends ProviderName {
  /** Asked for besides what every login needs. */
  readonly scopes: readonly string[];
}

/** What providers are told to send browsers back to. */
export const CALLBACK_PORT = 8400;
const CALLBACK_WAIT_MS = 300_000;
const SCOPES = ["openid", "offline_access"];
/** When the provider does not say. */
const DEFAULT_LIFETIME_S = 300;

/** Whether it gives codes that are entered on another device. */
export const offersDevice = async (name: ProviderName): Promise<boolean> =>
  (await find(name)).serverMetadata().device_authorization_endpoint !== undefined;

/** Whether a browser can be sent back here. */
export function isCallbackFree(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(CALLBACK_PORT, "localhost", () => server.close(() => resolve(true)));
  });
}

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
  const redirect = `http://localhost:${CALLBACK_PORT}/callback`;
  const address = buildAuthorizationUrl(provider, {
    redirect_uri: redirect,
    scope: scopeOf(name),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  });
  const back = waitForCallback(redirect);
  open(address.href);
  const came = await wait("Waiting for the browser to come back", () => back);
  const granted = await authorizationCodeGrant(provider, came, {
    pkceCodeVerifier: verifier,
    expectedState: state,
  }).catch(failed);
  return kept(name, granted, null);
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

/** Null when the provider will not; the old token may still do. */
export async function renew(env: NodeJS.ProcessEnv, url: string, old: CachedToken): Promise<CachedToken | null> {
  try {
    const provider = await find(old);
    const granted = await refreshTokenGrant(provider, old.refreshToken ?? "");
    const token = kept(old, granted, old);
    writeToken(env, url, token);
    return token;
  } catch {
    return null;
  }
}

function find({ issuer, clientId }: ProviderName): Promise<Configuration> {
  const execute = issuer.startsWith("http://") ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, undefined, None(), { execute }).catch(failed);
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

function waitForCallback(redirect: string): Promise<URL> {
  return new Promise((resolve, reject) => {
    const server = createServer((request, answer) => {
      const url = new URL(request.url ?? "/", redirect);
      if (url.pathname !== "/callback") return void answer.writeHead(404).end();
      answer.writeHead(200, { "content-type": "text/plain", connection: "close" });
      answer.end("You are logged in to Lattice. You can close this page.\n");
      finish(() => resolve(url));
    });
    const timer = setTimeout(() => finish(() => reject(refusal("the browser did not come back"))), CALLBACK_WAIT_MS);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      server.close();
      settle();
    };
    server.once("error", (error) =>
      finish(() => reject(refusal(`port ${CALLBACK_PORT} is not free: ${error.message}`))),
    );
    server.listen(CALLBACK_PORT, "localhost");
  });
}

const failed = (error: unknown): never => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  throw refusal(`${error instanceof Error ? error.message : String(error)}${cause}`);
};

const refusal = (detail: string): ProblemError =>
  new ProblemError("unauthenticated", {
    detail: `the identity provider did not log you in: ${detail}`,
    hint: "Try `lattice login --device`, or `lattice login --manual` with a token you have.",
  });
