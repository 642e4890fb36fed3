// How a server names itself in the election: its id, where its gRPC port is reached, and a token that
// only those who can read the log's store know. Whoever reads the name learns where to send what
// only the leader can do, and can prove to be a server of this cluster.

export interface PeerName {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

export const PEER_TOKEN_HEADER = "x-lattice-peer-token";

export const formatPeer = ({ id, address, token }: PeerName): string => `${id} ${address} ${token}`;

/** Null for a name of another shape: an engine of one server names itself by its id alone. */
export function parsePeer(text: string): PeerName | null {
  const [id, address, token, more] = text.split(" ");
  if (!id || !address || !token || more !== undefined) return null;
  return { id, address, token };
}
