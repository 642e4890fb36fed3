// How a server names itself to those that share its log, and in the election: its id, where its gRPC
// port is reached, a token that only those who can read the log's store know, and in it the newest log
// entries it understands. Whoever reads the name learns where to send what only the leader can do,
// and can prove to be a server of this cluster.

export interface PeerName {
  readonly id: string;
  readonly address: string;
  readonly token: string;
  /** Entries of the log up to this version can be applied there. */
  readonly entryVersion: number;
}

/** Whose certificate an agent showed to the server that passes its streams on; believed only with the token. */
export const VOUCHED_HEADER = "x-lattice-agent";
export const PEER_TOKEN_HEADER = "x-lattice-peer-token";

/** Said by servers from before the version was part of the name. */
export const FIRST_ENTRY_VERSION = 1;

/** The version is the end of the token: servers of the version before take a name of three words, and no other. */
const VERSION = /~(\d+)$/;

/** `secret`: nobody can guess it. */
export const peerToken = (secret: string, entryVersion: number): string => `${secret}~${entryVersion}`;

export const formatPeer = ({ id, address, token }: PeerName): string => `${id} ${address} ${token}`;

/** Null for a name of another shape: an engine of one server names itself by its id alone. */
export function parsePeer(text: string): PeerName | null {
  // Newer servers may say more.
  const [id, address, token] = text.split(" ");
  if (!id || !address || !token) return null;
  return { id, address, token, entryVersion: Number(VERSION.exec(token)?.[1] ?? FIRST_ENTRY_VERSION) };
}
