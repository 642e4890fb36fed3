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
  /** Null: whichever other server is furthest. Says who leads, which is another one if that did not take over. */
  transfer(to: string | null): Promise<{ readonly leader: string; readonly term: number }>;
}
