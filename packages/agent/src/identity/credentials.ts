// Channel credentials that use a renewed identity for the next connection, without touching the open one.

import { readFileSync } from "node:fs";
import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";
import { certificateProvider } from "@lattice/wire";
import type { IdentitySource } from "./identity.ts";

/**
 * Without an identity and without `secure`, connections are unencrypted. Without an identity and with `secure`,
 * servers are checked by this authority, or by the system's authorities.
 */
export function credentialsOf(
  source: IdentitySource | null,
  secure: boolean,
  authority: string | null = null,
): ChannelCredentials {
  if (source === null && !secure) return credentials.createInsecure();
  if (source === null) return credentials.createSsl(authority === null ? null : readFileSync(authority));
  const provider = certificateProvider(source);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}
