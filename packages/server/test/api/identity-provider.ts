// A real OpenID provider in this process, whose clients may get tokens for the cluster's API, with the audience that
// the server expects.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export interface IdentityProvider {
  readonly issuer: string;
  /** An access token by client credentials, with these scopes. */
  token(scope: string): Promise<string>;
  close(): Promise<void>;
}

/** The oidc_client_id of the server. */
export const AUDIENCE = "urn:lattice:test";

const SCOPES = "admin tenant:admin operator sensitive:claim readonly agent agent:any";
const CLIENT = { id: "robot", secret: "the-robot-has-a-secret" };

export async function startIdentityProvider(claims: Readonly<Record<string, unknown>>): Promise<IdentityProvider> {
  const server = createServer({ keepAliveTimeout: 600_000 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: SCOPES.split(" "),
    extraTokenClaims: () => ({ ...claims }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: SCOPES,
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => void answer(request, response));
  return {
    issuer,
    async token(scope) {
      const granted = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          authorization: `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64")}`,
        },
        body: new URLSearchParams({ grant_type: "client_credentials", scope, resource: AUDIENCE }),
      });
      const body = (await granted.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
      return body.access_token;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
