// The certificate that a caller has shown and that the listener found good; null when there is none. One that was not
// issued by the authority, or has ended, counts as none.

import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";

export type ShownCertificate = PeerCertificate;

export interface CertifiedCall {
  getAuthContext?(): { readonly sslPeerCertificate?: PeerCertificate | undefined };
}

export const certificateOf = (call: CertifiedCall): PeerCertificate | null =>
  call.getAuthContext?.().sslPeerCertificate ?? null;

/** Of a connection over HTTP. */
export function certificateOn(socket: Socket): PeerCertificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const shown = socket.getPeerCertificate();
  // Node says so when there is none.
  return Object.keys(shown).length === 0 ? null : shown;
}
