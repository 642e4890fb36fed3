// The verified certificate of a caller. A certificate of another authority, or an expired one, counts as none.

import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";

export interface CertifiedCall {
  getAuthContext?(): { readonly sslPeerCertificate?: PeerCertificate | undefined };
}

export const certificateOf = (call: CertifiedCall): PeerCertificate | null =>
  call.getAuthContext?.().sslPeerCertificate ?? null;

/** For an HTTP connection. */
export function certificateOn(socket: Socket): PeerCertificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const shown = socket.getPeerCertificate();
  // Node returns an empty object without a certificate.
  return Object.keys(shown).length === 0 ? null : shown;
}
