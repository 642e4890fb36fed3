// How agents of one launch authenticate each other. Without certificates they have only the key of the launch. With
// certificates both ends check that the other's certificate is that of the node that the leader named; a renewed
// certificate is used for the next connection.

import { X509Certificate } from "node:crypto";
import { type ChannelCredentials, credentials, ServerCredentials } from "@grpc/grpc-js";
import { failed, ok, type Result } from "@lattice/core";
import { bearerOf, nodeMismatch, type ShownCertificate } from "@lattice/wire";
import type { IdentitySource, TlsIdentity } from "../../identity/identity.ts";

interface CallWithCertificate {
  getAuthContext?(): { readonly sslPeerCertificate?: ShownCertificate | undefined };
}

export interface FenceTrust {
  listener(): ServerCredentials;
  /** To the agent of this node. */
  channel(node: string): ChannelCredentials;
  /** Returns why the caller may not act for this node, or null. */
  mismatch(call: CallWithCertificate, node: string): string | null;
}

/**
 * Returns why agents may not talk to each other here, or how they authenticate. `secure`: servers are reached over
 * TLS.
 */
export function trustOf(source: IdentitySource | null, secure: boolean): Result<FenceTrust> {
  if (source === null)
    return secure ? failed("this agent has no certificate for connections to other agents") : ok(inTheClear);
  return servesToo(source.current())
    ? ok(byCertificates(source))
    : failed("this agent's certificate does not allow serving");
}

export const inTheClear: FenceTrust = {
  listener: () => ServerCredentials.createInsecure(),
  channel: () => credentials.createInsecure(),
  mismatch: () => null,
};

export const byCertificates = (source: IdentitySource): FenceTrust => ({
  listener: () => new RenewedCredentials(source),
  channel(node) {
    const { ca, key, cert } = source.current();
    return credentials.createSsl(ca, key, cert, {
      // A node's address changes more often than its name, so the name in the certificate counts.
      checkServerIdentity: (_host, shown) => problemOf(shown as ShownCertificate, node),
    });
  },
  mismatch(call, node) {
    const shown = call.getAuthContext?.().sslPeerCertificate;
    return shown === undefined ? "no certificate was shown" : nodeMismatch(bearerOf(shown), node);
  },
});

function problemOf(shown: ShownCertificate, node: string): Error | undefined {
  const problem = nodeMismatch(bearerOf(shown), node);
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

/** Clients refuse a server whose certificate allows only client authentication. */
function servesToo({ cert }: TlsIdentity): boolean {
  const usages = new X509Certificate(cert).keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(SERVER_AUTH);
}
