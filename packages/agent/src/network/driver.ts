// How the processes of an attempt are kept in their network domain. A driver makes the domain's network on this node when the first
// attempt needs it, says what to put before the command so that it begins inside, and takes the network away with the last.

export interface RunNetwork {
  readonly domain: string;
  readonly vni: number;
  /** Nothing passes but within the domain, and to the gateway. */
  readonly sensitive?: boolean;
  /** "address:port". */
  readonly gateway?: string;
  /** Ports inside that can be reached at the node. */
  readonly exposed?: readonly number[];
}

export interface NetworkPlace {
  readonly key: string;
  readonly network: RunNetwork;
  /** Of the allocation, in order. */
  readonly nodes: readonly string[];
}

export interface EnteredNetwork {
  /** Put before everything else. */
  readonly before: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

export interface NetworkDriver {
  readonly kind: "none" | "linux";
  /** Throws when the network cannot be made: the attempt must not run without it. */
  join(place: NetworkPlace): Promise<EnteredNetwork>;
  /** That what passes its borders is there; started again where it is not. Answers what was gone, in words. */
  keep(place: NetworkPlace): Promise<readonly string[]>;
  /** Once nothing of the attempt is left; repeating it does no harm. */
  leave(key: string): Promise<void>;
  /** Takes away what attempts of an earlier life have left. */
  sweep(known: ReadonlySet<string>): Promise<void>;
}

/** The domain is told to the job and not enforced here: the fabric does that, or nobody. */
export const noDriver: NetworkDriver = {
  kind: "none",
  join: async ({ network }) => ({ before: [], variables: namesOf(network) }),
  keep: async () => [],
  leave: async () => undefined,
  sweep: async () => undefined,
};

export const namesOf = ({ domain, vni, gateway }: RunNetwork): Record<string, string> => ({
  LATTICE_NETWORK_DOMAIN: domain,
  LATTICE_VNI: String(vni),
  ...(gateway === undefined ? {} : { LATTICE_DATA_GATEWAY: gateway }),
});
