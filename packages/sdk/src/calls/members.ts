// The members of the cluster: told of a new one, freed of an old one, and who of them leads.

import type { Caller } from "../call.ts";
import type { LeaderTransfer, MemberAdd, MemberList } from "../cluster-types.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface MemberCalls {
  /** Asked again, it answers the same. */
  add(member: MemberAdd, options?: ChangeOptions): Promise<MemberList>;
  remove(id: string, options?: ChangeOptions): Promise<MemberList>;
  /** Without a name: to whichever other server is furthest. The answer says who leads. */
  transferLeader(to?: string, options?: ChangeOptions): Promise<LeaderTransfer>;
}

export const memberCalls = (caller: Caller): MemberCalls => ({
  add: (member, options = {}) =>
    caller.json(
      {
        method: "POST",
        path: "/api/v1/raft/members",
        body: withRequestId(member, options.requestId),
        repeatable: true,
      },
      options,
    ),
  remove: (id, options = {}) => {
    const query = queryString(withRequestId({}, options.requestId));
    const path = `/api/v1/raft/members/${encodeURIComponent(id)}${query}`;
    return caller.json({ method: "DELETE", path, repeatable: true }, options);
  },
  transferLeader: (to, options = {}) =>
    caller.json(
      {
        method: "POST",
        path: "/api/v1/raft/transfer-leader",
        body: withRequestId(to === undefined ? {} : { to }, options.requestId),
        repeatable: true,
      },
      options,
    ),
});
