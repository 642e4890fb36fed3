// Headers that servers of one cluster send to each other.

/** The token of the called server's name in the election: a caller that knows it is a server of the same cluster. */
export const PEER_TOKEN_HEADER = "x-lattice-peer-token";
/**
 * The identity of the sender's cluster, in requests and answers; empty while its log has none. In a call of the API: the
 * cluster that the client means.
 */
export const CLUSTER_HEADER = "x-lattice-cluster";
/** The identity in the certificate of an agent whose stream a follower relays; trusted only with the peer token. */
export const VOUCHED_HEADER = "x-lattice-agent";
/** The address from which that agent connects; trusted only with the peer token. */
export const AGENT_ADDRESS_HEADER = "x-lattice-agent-address";
