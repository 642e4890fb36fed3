// Keeps the processes of an attempt in their network domain. A driver creates the domain's network on this node for
// its first attempt, returns the words that start a command inside it, and removes the network with the last attempt.

import type { pb } from "@lattice/wire";

export interface NetworkPlace {
  readonly key: string;
  readonly network: pb.RunNetwork;
  /** Nodes of the allocation, in order. */
  readonly nodes: readonly string[];
}

interface EnteredNetwork {
  /** Prefix of the command. */
  readonly before: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** The other nodes of a domain. */
export interface OverlayPeers {
  readonly vni: number;
  /** IPv4 addresses of their uplinks. */
  readonly addresses: readonly string[];
  /** False when there may be others, which stay. */
  readonly complete: boolean;
}

export interface NetworkDriver {
  readonly kind: "none" | "linux";
  /** Throws when the network cannot be created: the attempt must not run without it. */
  join(place: NetworkPlace): Promise<EnteredNetwork>;
  /**
   * Checks the processes that pass connections over the border and restarts missing ones. Returns what was missing.
   */
  keep(place: NetworkPlace): Promise<readonly string[]>;
  /** Receives the overlay of a domain from these nodes only. Before the first call it is received from none. */
  peers(peers: OverlayPeers): Promise<void>;
  /** Called once nothing of the attempt is left; repeatable. */
  leave(key: string): Promise<void>;
  /** Removes networks left by attempts of an earlier run. */
  sweep(known: ReadonlySet<string>): Promise<void>;
}

/** Names the domain to the job without enforcing it: that is left to the fabric. */
export const noDriver: NetworkDriver = {
  kind: "none",
  join: async ({ network }) => ({ before: [], variables: namesOf(network) }),
  keep: async () => [],
  peers: async () => undefined,
  leave: async () => undefined,
  sweep: async () => undefined,
};

export const namesOf = ({ domain, vni, dataGateway }: pb.RunNetwork): Record<string, string> => ({
  LATTICE_NETWORK_DOMAIN: domain,
  LATTICE_VNI: String(vni),
  ...(dataGateway === "" ? {} : { LATTICE_DATA_GATEWAY: dataGateway }),
});
