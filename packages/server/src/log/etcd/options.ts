// Options of a handle on the log in etcd.

import type { LogServer } from "../contract/replicated-log.ts";
import type { EtcdTls } from "./client/channel.ts";
import type { WaitUntilDead } from "./revoke-dead-leader.ts";

export interface EtcdLogOptions {
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | null;
  /** One per cluster, for example "/lattice/main". */
  readonly prefix: string;
  /** Name of this server in the cluster. */
  readonly name: string;
  /** Opaque text about this server, listed with it. */
  readonly announcement?: string;
  /** Configured servers: listed as unhealthy when they are not connected. */
  readonly peers?: readonly LogServer[];
  readonly leaseSeconds?: number;
  /** Reports that a leader is surely gone. Default: a dead leader leads until its lease ends. */
  readonly untilGone?: WaitUntilDead;
  readonly maxEntryBytes?: number;
  readonly keepSnapshots?: number;
  readonly appendTimeoutMs?: number;
  readonly openTimeoutMs?: number;
  readonly compactGapMs?: number;
  /** The first endpoint is a member that serves this server alone, which may defragment it. */
  readonly ownMember?: boolean;
  /** Peer address of that member, host:port. */
  readonly peer?: string | null;
  /** Whether members use TLS among themselves. Default: when clients do. */
  readonly securedPeers?: boolean;
  readonly nowMs?: () => number;
  readonly onWarning?: (text: string) => void;
  /** etcd does not hold the log any more that this handle has followed. Every further call fails with this. */
  readonly onLost?: (error: Error) => void;
}
