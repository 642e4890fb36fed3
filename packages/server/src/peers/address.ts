// The name of a server in the shared log and in the election: its id, the address of its gRPC port, and a token that
// only readers of the log's store know, which ends with the newest entry version it can apply. A server that reads the
// name can reach the leader and prove that it belongs to the cluster.

export interface PeerName {
  readonly id: string;
  readonly address: string;
  readonly token: string;
  /** Entries of the log up to this version can be applied there. */
  readonly entryVersion: number;
}

/** The version of servers whose name does not contain one. */
export const FIRST_ENTRY_VERSION = 1;

/** The version is at the end of the token, because the previous release accepts only names of three words. */
const VERSION = /~(\d+)$/;

/** `secret` must be unguessable. */
export const peerToken = (secret: string, entryVersion: number): string => `${secret}~${entryVersion}`;

export const formatPeer = ({ id, address, token }: PeerName): string => `${id} ${address} ${token}`;

/** Returns `null` for another format: the engine of a single server uses its id as the name. */
export function parsePeer(text: string): PeerName | null {
  // Newer servers may add words.
  const [id, address, token] = text.split(" ");
  if (!id || !address || !token) return null;
  return { id, address, token, entryVersion: Number(VERSION.exec(token)?.[1] ?? FIRST_ENTRY_VERSION) };
}
