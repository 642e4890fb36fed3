// The members of the cluster, as the API sees them. Every function throws a ProblemError when it is refused.

import type { pb } from "@lattice/wire";
import type { KnownServer } from "../../log/contract/shared-log.ts";

interface Newcomer extends KnownServer {
  /** Replaces the member of this server that lost its data; awaited before that is removed. `null`: nothing is removed. */
  readonly replaces: (() => Promise<unknown>) | null;
}

export interface Membership {
  /** Every server and every member of etcd; answers within two seconds. */
  list(): Promise<readonly pb.Member[]>;
  /** Records that a server of another cluster asked to join and was refused. */
  refused(server: { readonly id: string; readonly cluster: string; readonly text: string }): void;
  /** May be repeated. */
  add(server: Newcomer): Promise<readonly pb.Member[]>;
  /** By the server's id, or the name or id of its etcd member. `write` is awaited after all checks have passed. */
  remove(id: string, write: () => Promise<unknown>): Promise<readonly pb.Member[]>;
  /** `null` for the most advanced other server. Returns the new leader, which may be another server than requested. */
  transfer(to: string | null): Promise<{ readonly leader: string; readonly term: number }>;
}
