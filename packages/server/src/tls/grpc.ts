// Certificates for gRPC: of the listener, and of the channels to other servers. Both take a renewed certificate for
// new connections without touching those that are open.

import { type ChannelCredentials, credentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { TlsMaterial } from "./material.ts";
import type { TlsSource } from "./source.ts";

/** Null: without TLS. */
export function listenerCredentials(tls: TlsSource | null): ServerCredentials {
  return tls === null ? ServerCredentials.createInsecure() : new RenewedCredentials(tls);
}

/** For channels to other servers, which have certificates of the same authority. */
export function channelCredentials(tls: TlsSource | null): ChannelCredentials {
  if (tls === null) return credentials.createInsecure();
  const provider = providerOf(tls);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

class RenewedCredentials extends ServerCredentials {
  constructor(tls: TlsSource) {
    const asks = tls.config.ca !== null;
    // Who has shown no certificate, or a wrong one, is a stranger; whether strangers may call is decided behind.
    super({ requestCert: asks, rejectUnauthorized: tls.config.requireClientCertificates }, contextOf(tls.current()));
    tls.onChange((material) => this.updateSecureContextOptions(contextOf(material)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const contextOf = ({ cert, key, ca }: TlsMaterial) => ({ cert, key, ...(ca === null ? {} : { ca }) });

type CaListener = Parameters<experimental.CertificateProvider["addCaCertificateListener"]>[0];
type IdentityListener = Parameters<experimental.CertificateProvider["addIdentityCertificateListener"]>[0];

function providerOf(tls: TlsSource): experimental.CertificateProvider {
  const cas = new Set<CaListener>();
  const identities = new Set<IdentityListener>();
  const ca = () => ({ caCertificate: tls.current().ca ?? tls.current().cert });
  const identity = () => ({ certificate: tls.current().cert, privateKey: tls.current().key });
  tls.onChange(() => {
    for (const listener of cas) listener(ca());
    for (const listener of identities) listener(identity());
  });
  return {
    addCaCertificateListener(listener) {
      cas.add(listener);
      process.nextTick(() => listener(ca()));
    },
    removeCaCertificateListener: (listener) => void cas.delete(listener),
    addIdentityCertificateListener(listener) {
      identities.add(listener);
      process.nextTick(() => listener(identity()));
    },
    removeIdentityCertificateListener: (listener) => void identities.delete(listener),
  };
}
