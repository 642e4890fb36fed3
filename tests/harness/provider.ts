// A real OpenID provider in this process. Each client has its own credentials and gets signed tokens for the user of the
// same name and the audience `lattice`.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export interface TestProvider {
  readonly issuer: string;
  token(client: string, scope?: string): Promise<string>;
  close(): void;
}

const RESOURCE = "urn:lattice:api";
const SCOPES = "admin operator readonly agent";
const secretOf = (name: string): string => `the secret of ${name}, which is long`;

export async function startProvider(clients: readonly string[]): Promise<TestProvider> {
  const server = createServer({ keepAliveTimeout: 600_000 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: clients.map((name) => ({
      client_id: name,
      client_secret: secretOf(name),
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    scopes: SCOPES.split(" "),
    extraTokenClaims: (_ctx, token) => ({ tenant: "default", preferred_username: token.clientId }),
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: SCOPES,
          audience: "lattice",
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
    async token(client, scope = "") {
      const form = { grant_type: "client_credentials", resource: RESOURCE, scope };
      const body = new URLSearchParams({ ...form, client_id: client, client_secret: secretOf(client) });
      const granted = await fetch(`${issuer}/token`, { method: "POST", body });
      const { access_token: token } = (await granted.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`no token for ${client}: ${granted.status}`);
      return token;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
