// How a server names itself in the election: its id and where its gRPC port is reached. The log
// stores the name as it is; whoever reads it learns where to send what only the leader can do.

export interface PeerName {
  readonly id: string;
  readonly address: string;
}

export const formatPeer = ({ id, address }: PeerName): string => `${id} ${address}`;

/** Null for a name without an address: an engine of one server, or one of another make. */
export function parsePeer(text: string): PeerName | null {
  const space = text.indexOf(" ");
  if (space <= 0 || space === text.length - 1) return null;
  return { id: text.slice(0, space), address: text.slice(space + 1) };
}
