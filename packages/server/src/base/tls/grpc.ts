// TLS for gRPC: the listener, and the channels to other servers. Both use a renewed certificate for new connections
// and leave open ones alone.

import { type ChannelCredentials, credentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import { certificateProvider } from "@lattice/wire";
import type { TlsMaterial } from "./material.ts";
import type { TlsSource } from "./source.ts";

/** Limit for a TLS handshake, over REST and gRPC. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** `tls` is `null` without TLS. `firstBytesTimeoutMs` limits the time until a client sends its first bytes. */
export function listenerCredentials(tls: TlsSource | null, firstBytesTimeoutMs: number): ServerCredentials {
  return tls === null ? ServerCredentials.createInsecure() : new RenewedCredentials(tls, firstBytesTimeoutMs);
}

/** For channels to other servers, whose certificates come from the same authority. */
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
  constructor(tls: TlsSource, firstBytesTimeoutMs: number) {
    const requestCert = tls.config.ca !== null;
    // A client without a valid certificate is unauthenticated; the services decide whether it may call.
    const { requireClientCertificates: rejectUnauthorized } = tls.config;
    const handshakeTimeout = Math.min(HANDSHAKE_TIMEOUT_MS, firstBytesTimeoutMs);
    // REST is served on this port as well, for clients that only speak HTTP/1.1.
    const shared = { allowHTTP1: true };
    super({ requestCert, rejectUnauthorized, handshakeTimeout, ...shared }, contextOf(tls.current()));
    tls.onChange((material) => this.updateSecureContextOptions(contextOf(material)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const contextOf = ({ cert, key, ca }: TlsMaterial) => ({ cert, key, ...(ca === null ? {} : { ca }) });
