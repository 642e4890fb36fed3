// Certificates for gRPC: of the listener, and of the channels to other servers. Both take a renewed certificate for
// new connections without touching those that are open.

import { type ChannelCredentials, credentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import { certificateProvider } from "@lattice/wire";
import { HANDSHAKE_TIMEOUT_MS } from "../api/limits/limits.ts";
import type { TlsMaterial } from "./material.ts";
import type { TlsSource } from "./source.ts";

/** Null: without TLS. `greetWithinMs`: what a client may take at most until it has said something. */
export function listenerCredentials(tls: TlsSource | null, greetWithinMs: number): ServerCredentials {
  return tls === null ? ServerCredentials.createInsecure() : new RenewedCredentials(tls, greetWithinMs);
}

/** For channels to other servers, which have certificates of the same authority. */
export function channelCredentials(tls: TlsSource | null): ChannelCredentials {
  if (tls === null) return credentials.createInsecure();
  const provider = certificateProvider({
    current() {
      const { cert, key, ca } = tls.current();
      return { cert, key, ca: ca ?? cert };
    },
    onChange: tls.onChange,
  });
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

class RenewedCredentials extends ServerCredentials {
  constructor(tls: TlsSource, greetWithinMs: number) {
    const asks = tls.config.ca !== null;
    // Who has shown no certificate, or a wrong one, is a stranger; whether strangers may call is decided behind.
    const { requireClientCertificates: rejectUnauthorized } = tls.config;
    const handshakeTimeout = Math.min(HANDSHAKE_TIMEOUT_MS, greetWithinMs);
    // REST is served on this port as well, for clients that speak HTTP/1.1 alone.
    const shared = { allowHTTP1: true };
    super({ requestCert: asks, rejectUnauthorized, handshakeTimeout, ...shared }, contextOf(tls.current()));
    tls.onChange((material) => this.updateSecureContextOptions(contextOf(material)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const contextOf = ({ cert, key, ca }: TlsMaterial) => ({ cert, key, ...(ca === null ? {} : { ca }) });
