// When the certificate in force ends, for heartbeats: looked up when it changes, not at every beat.

import { X509Certificate } from "node:crypto";
import type { Identity, IdentitySource } from "./identity.ts";

/** Milliseconds since 1970; 0 without a certificate. */
export function endOf(source: IdentitySource | null): () => number {
  if (source === null) return () => 0;
  let end = of(source.current());
  source.onChange((identity) => {
    end = of(identity);
  });
  return () => end;
}

const of = ({ cert }: Identity): number => Date.parse(new X509Certificate(cert).validTo);
