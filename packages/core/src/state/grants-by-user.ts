// The grants of each user, for the authorization of every call.

import type { UserName } from "../base/ids.ts";
import { type Grant, grantKey } from "../model/access/grant.ts";

export interface GrantIndex {
  of(user: UserName): readonly Grant[];
  put(grant: Grant): void;
  remove(grant: Grant): void;
}

const NONE: readonly Grant[] = [];

export function createGrantIndex(): GrantIndex {
  const byUser = new Map<UserName, readonly Grant[]>();
  const others = (grant: Grant) => (byUser.get(grant.user) ?? NONE).filter((one) => grantKey(one) !== grantKey(grant));
  return {
    of: (user) => byUser.get(user) ?? NONE,
    put: (grant) => void byUser.set(grant.user, [...others(grant), grant]),
    remove(grant) {
      const left = others(grant);
      if (left.length > 0) byUser.set(grant.user, left);
      else byUser.delete(grant.user);
    },
  };
}
