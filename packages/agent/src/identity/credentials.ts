// Channels that take a renewed identity for their next connection, without touching the one that is open.

import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";
import { certificateProvider } from "@lattice/wire";
import type { IdentitySource } from "./identity.ts";

/** Null and not `secure`: in the clear. Null and `secure`: servers have certificates that everybody trusts. */
export function credentialsOf(source: IdentitySource | null, secure: boolean): ChannelCredentials {
  if (source === null) return secure ? credentials.createSsl() : credentials.createInsecure();
  const provider = certificateProvider(source);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}
