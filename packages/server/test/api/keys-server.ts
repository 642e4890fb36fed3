// A minimal identity provider for invalid behaviour: it signs any claims, and the test sets its pages.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import type { AuthConfig } from "../../src/base/config/index.ts";

export const AUDIENCE = "lattice";
export type Algorithm = "RS256" | "ES256";

export interface SigningKey {
  readonly jwk: object;
  /** The public key in PEM. */
  readonly pem: string;
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface KeysServer {
  readonly issuer: string;
  readonly auth: Extract<AuthConfig, { kind: "oidc" }>;
  /** Valid for five minutes, for the audience and issuer; `more` overrides claims. */
  claims(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The pages by path; a test may replace them. */
  readonly pages: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  close(): void;
}

export async function startKeysServer(keys: readonly SigningKey[]): Promise<KeysServer> {
  const pages: KeysServer["pages"] = new Map();
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const page = pages.get(request.url ?? "");
    if (page === undefined) response.writeHead(404).end();
    else page(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pages.set("/.well-known/openid-configuration", json({ issuer, jwks_uri: `${issuer}/keys` }));
  pages.set("/keys", json({ keys: keys.map(({ jwk }) => jwk) }));
  const rules = { leewaySeconds: 0, tokenCacheSeconds: 1, tenantClaim: "tenant", defaultTenant: null };
  return {
    issuer,
    auth: { kind: "oidc", issuer, clientId: AUDIENCE, introspection: null, ...rules },
    claims: (more = {}) => ({
      sub: "ada",
      tenant: "physics",
      iss: issuer,
      aud: AUDIENCE,
      exp: Math.floor(Date.now() / 1_000) + 300,
      ...more,
    }),
    pages,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const json = (body: object) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));

export async function makeKey(kid: string, alg: Algorithm): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg },
    pem: await exportSPKI(publicKey),
    sign: (claims) => new SignJWT({ ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey),
  };
}
