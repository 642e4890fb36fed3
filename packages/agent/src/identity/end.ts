// The expiry of the current certificate, for heartbeats. Computed when the certificate changes.

import { X509Certificate } from "node:crypto";
import type { IdentitySource, TlsIdentity } from "./identity.ts";

/** Milliseconds since 1970; 0 without a certificate. */
export function endOf(source: IdentitySource | null): () => number {
  if (source === null) return () => 0;
  let end = of(source.current());
  source.onChange((identity) => {
    end = of(identity);
  });
  return () => end;
}

const of = ({ cert }: TlsIdentity): number => Date.parse(new X509Certificate(cert).validTo);
