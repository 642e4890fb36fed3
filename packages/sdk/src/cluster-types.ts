// The control plane itself as JSON shows it: its members, who leads, how far the log is.

export interface ClusterMember {
  readonly id: string;
  readonly address?: string;
  readonly leader?: boolean;
  readonly healthy?: boolean;
  /** How far its copy of the state is; absent when it does not answer. */
  readonly applied_index?: string;
  /** Entries behind the end of the log. */
  readonly lag?: number;
  readonly server_version?: string;
  readonly etcd?: EtcdMember;
  /** The one that it shows; absent without TLS. */
  readonly certificate?: { readonly serial: string; readonly end?: string };
}

/** What is not known is left out. */
export interface EtcdMember {
  readonly id: string;
  /** Absent: added, never started. */
  readonly name?: string;
  readonly peer_address?: string;
  readonly client_address?: string;
  readonly healthy?: boolean;
  /** Leads etcd, which is not the same as leading Lattice. */
  readonly leader?: boolean;
  readonly version?: string;
  readonly database_bytes?: number;
  readonly raft_term?: string;
  readonly raft_index?: string;
}

export interface MemberAdd {
  readonly id: string;
  /** Where its member of etcd will speak with the others, host:port. */
  readonly peer_address: string;
}

export interface MemberList {
  readonly members?: readonly ClusterMember[];
}

export interface LeaderTransfer {
  readonly leader: string;
  readonly term?: string;
}

export interface ClusterStatus {
  readonly engine?: string;
  readonly term?: string;
  readonly leader?: string;
  readonly is_leader?: boolean;
  readonly last_index?: string;
  readonly applied_index?: string;
  readonly snapshot_index?: string;
  readonly state_hash?: string;
  readonly members?: readonly ClusterMember[];
  readonly log_bytes?: number;
  readonly writable?: boolean;
  readonly unwritable_reason?: string;
}
