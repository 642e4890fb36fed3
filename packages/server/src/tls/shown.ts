// The certificate that a caller has shown and that the listener found good; null when there is none. One that was not
// issued by the authority, or has ended, counts as none.

import type { PeerCertificate } from "node:tls";

export interface CertifiedCall {
  getAuthContext?(): { readonly sslPeerCertificate?: PeerCertificate | undefined };
}

export const certificateOf = (call: CertifiedCall): PeerCertificate | null =>
  call.getAuthContext?.().sslPeerCertificate ?? null;
