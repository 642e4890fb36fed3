// The additional interface of a log that several servers share: the members of its store, changing them, and choosing
// the next leader. Servers are identified by their ids, members of the store by their peer addresses.

export interface EtcdMember {
  /** Hexadecimal, as in etcd's own tools. */
  readonly id: string;
  /** Empty for a member that was added but never started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  /** Copies the log and has no vote: it was added and has not caught up. */
  readonly learner: boolean;
  /** Whether it answers at its address. */
  readonly healthy: boolean;
  /** Leader of etcd, which is not the leader of Lattice. */
  readonly leader: boolean;
  readonly version: string | null;
  readonly raftTerm: number | null;
  readonly raftIndex: number | null;
  readonly databaseBytes: number | null;
}

/** A server of the cluster, connected or not. */
export interface KnownServer {
  readonly id: string;
  /** Peer address of its member, host:port. */
  readonly peer: string;
}

export interface SharedLog {
  /** Each server runs its own member. False when the store is operated separately. */
  readonly managed: boolean;
  /** Servers of the cluster, known without a call. */
  known(): readonly KnownServer[];
  /** The member of this server, when it runs one and it answers. */
  ownMember(): Promise<EtcdMember | null>;
  /**
   * Waits for each member for `patienceMs` (default one second); a member that does not answer is listed with what is
   * known.
   */
  members(patienceMs?: number): Promise<readonly EtcdMember[]>;
  /** Announces the member that this server will start. Idempotent. */
  add(server: KnownServer): Promise<readonly EtcdMember[]>;
  /** Returns why this member must not be removed; `null` when it may. */
  refuseRemove(member: EtcdMember): Promise<string | null>;
  /** Refused when the remaining members would have no answering majority. */
  remove(member: EtcdMember): Promise<readonly EtcdMember[]>;
  /** Forgets a server that has no member. */
  forget(server: string): Promise<void>;
  /** For a few seconds only this server may win the election. */
  favour(server: string): Promise<void>;
}
