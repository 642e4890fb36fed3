// The members of the cluster: told of a new one, freed of an old one, and who of them leads.

import type { Caller, CallOptions } from "../call.ts";
import type { LeaderTransfer, MemberAdd, MemberList } from "../cluster-types.ts";

export interface MemberCalls {
  /** Asked again, it answers the same. */
  add(member: MemberAdd, options?: CallOptions): Promise<MemberList>;
  remove(id: string, options?: CallOptions): Promise<MemberList>;
  /** Without a name: to whichever other server is furthest. The answer says who leads. */
  transferLeader(to?: string, options?: CallOptions): Promise<LeaderTransfer>;
}

export const memberCalls = (caller: Caller): MemberCalls => ({
  add: (member, options) =>
    caller.json({ method: "POST", path: "/api/v1/raft/members", body: member, repeatable: true }, options),
  remove: (id, options) =>
    caller.json(
      { method: "DELETE", path: `/api/v1/raft/members/${encodeURIComponent(id)}`, repeatable: false },
      options,
    ),
  transferLeader: (to, options) =>
    caller.json(
      { method: "POST", path: "/api/v1/raft/transfer-leader", body: to === undefined ? {} : { to }, repeatable: false },
      options,
    ),
});
