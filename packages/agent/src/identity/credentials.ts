// Channels that take a renewed identity for their next connection, without touching the one that is open.

import { readFileSync } from "node:fs";
import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";
import { certificateProvider } from "@lattice/wire";
import type { IdentitySource } from "./identity.ts";

/**
 * Null and not `secure`: in the clear. Null and `secure`: servers have certificates of this authority, or without it
 * such that everybody trusts.
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
