// Whom agents of one launch take for each other. In a cluster without certificates the key of the launch is all there is.
// With certificates both ends show theirs, and each checks that the other's is that of the node that the leader named;
// a renewed one is shown to whoever comes next.

import { X509Certificate } from "node:crypto";
import { type ChannelCredentials, credentials, ServerCredentials } from "@grpc/grpc-js";
import { bearerOf, notTheNode, type ShownCertificate } from "@lattice/wire";
import type { Identity, IdentitySource } from "../../identity/identity.ts";

export interface CallWithCertificate {
  getAuthContext?(): { readonly sslPeerCertificate?: ShownCertificate | undefined };
}

export interface FenceTrust {
  listener(): ServerCredentials;
  /** To the agent of this node. */
  channel(node: string): ChannelCredentials;
  /** Why whoever calls may not speak for this node; null: it may. */
  stranger(call: CallWithCertificate, node: string): string | null;
}

/** In words why agents may not speak to each other here. `secure`: servers are reached by TLS. */
export function trustOf(source: IdentitySource | null, secure: boolean): FenceTrust | string {
  if (source === null) return secure ? "this agent has no certificate to show to others" : inTheClear;
  return servesToo(source.current()) ? byCertificates(source) : "this agent's certificate is not for serving";
}

export const inTheClear: FenceTrust = {
  listener: () => ServerCredentials.createInsecure(),
  channel: () => credentials.createInsecure(),
  stranger: () => null,
};

export const byCertificates = (source: IdentitySource): FenceTrust => ({
  listener: () => new RenewedCredentials(source),
  channel(node) {
    const { ca, key, cert } = source.current();
    return credentials.createSsl(ca, key, cert, {
      // Where a node is reached changes more often than who it is: the name in the certificate counts.
      checkServerIdentity: (_host, shown) => problemOf(shown as ShownCertificate, node),
    });
  },
  stranger(call, node) {
    const shown = call.getAuthContext?.().sslPeerCertificate;
    return shown === undefined ? "no certificate was shown" : notTheNode(bearerOf(shown), node);
  },
});

function problemOf(shown: ShownCertificate, node: string): Error | undefined {
  const problem = notTheNode(bearerOf(shown), node);
  return problem === null ? undefined : new Error(problem);
}

class RenewedCredentials extends ServerCredentials {
  constructor(source: IdentitySource) {
    super({ requestCert: true, rejectUnauthorized: true }, { ...source.current() });
    source.onChange((identity) => this.updateSecureContextOptions({ ...identity }));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

/** Clients refuse a server whose certificate is for clients alone. */
function servesToo({ cert }: Identity): boolean {
  const usages = new X509Certificate(cert).keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(SERVER_AUTH);
}
