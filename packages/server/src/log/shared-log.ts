// What an engine offers beyond the log itself when several servers share it: the members of the store
// that holds it, changing who they are, and saying who should lead next. Servers are named by their
// ids, members of the store by the addresses at which they speak with each other.

export interface EtcdMember {
  /** Hexadecimal, as etcd's own tools write it. */
  readonly id: string;
  /** Empty: added, never started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  /** Whether it answers where it says it does. */
  readonly healthy: boolean;
  /** Leads etcd, which is not the same as leading Lattice. */
  readonly leader: boolean;
  readonly version: string | null;
  readonly raftTerm: number | null;
  readonly raftIndex: number | null;
  readonly databaseBytes: number | null;
}

/** A server that belongs to the cluster, whether or not it is there. */
export interface KnownServer {
  readonly id: string;
  /** Where its member of the store speaks with the others, host:port. */
  readonly peer: string;
}

export interface SharedLog {
  /** Each server runs a member of its own. False: the store is run by others. */
  readonly managed: boolean;
  /** Servers that belong to the cluster, known without asking. */
  known(): readonly KnownServer[];
  /** The member that serves this server, when it is its own and answers. */
  ownMember(): Promise<EtcdMember | null>;
  /** Each is given so long to answer, a second when not stated; of those that do not, it says what is known. */
  members(patienceMs?: number): Promise<readonly EtcdMember[]>;
  /** Tells the store of the member that this server will start. Told again, it changes nothing. */
  add(server: KnownServer): Promise<readonly EtcdMember[]>;
  /** Why this member must not be removed; null: it may. */
  refuseRemove(member: EtcdMember): Promise<string | null>;
  /** Refused when what is left would not have a majority that answers. */
  remove(member: EtcdMember): Promise<readonly EtcdMember[]>;
  /** Forgets a server that has no member. */
  forget(server: string): Promise<void>;
  /** For a few seconds only this server may begin to lead. */
  favour(server: string): Promise<void>;
}
