// Who the members of the cluster are, as the API sees it, and changing that. Everything throws a
// ProblemError when it is refused.

import type { pb } from "@lattice/wire";
import type { KnownServer } from "../log/shared-log.ts";

export interface Membership {
  /** Every server and every member of etcd; answers within two seconds. */
  list(): Promise<readonly pb.Member[]>;
  /** Asked again, it answers the same. */
  add(server: KnownServer): Promise<readonly pb.Member[]>;
  /** The server's id, or the name or id of its member of etcd. `write` is awaited when nothing stands against it. */
  remove(id: string, write: () => Promise<unknown>): Promise<readonly pb.Member[]>;
  /** `null` for the most advanced other server. Returns the new leader, which may be another server than requested. */
  transfer(to: string | null): Promise<{ readonly leader: string; readonly term: number }>;
}
