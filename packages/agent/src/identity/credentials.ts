// Channels that take a renewed identity for their next connection, without touching the one that is open.

import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";
import type { IdentitySource } from "./identity.ts";

type CaListener = Parameters<experimental.CertificateProvider["addCaCertificateListener"]>[0];
type IdentityListener = Parameters<experimental.CertificateProvider["addIdentityCertificateListener"]>[0];

/** Null and not `secure`: in the clear. Null and `secure`: servers have certificates that everybody trusts. */
export function credentialsOf(source: IdentitySource | null, secure: boolean): ChannelCredentials {
  if (source === null) return secure ? credentials.createSsl() : credentials.createInsecure();
  const cas = new Set<CaListener>();
  const identities = new Set<IdentityListener>();
  const ca = () => ({ caCertificate: source.current().ca });
  const identity = () => ({ certificate: source.current().cert, privateKey: source.current().key });
  source.onChange(() => {
    for (const listener of cas) listener(ca());
    for (const listener of identities) listener(identity());
  });
  const provider: experimental.CertificateProvider = {
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
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}
