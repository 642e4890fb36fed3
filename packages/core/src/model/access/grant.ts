// Roles that are kept in the state rather than in tokens: who administers a tenant, and who may claim its
// sensitive nodes. A grant is about one tenant and one user; what its role may do is decided by the API.

import type { Instant, TenantId, UserName } from "../../base/ids.ts";

export const GRANT_ROLES = ["tenant_admin", "claiming_user"] as const;
export type GrantRole = (typeof GRANT_ROLES)[number];

export interface Grant {
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
  readonly by: UserName;
  readonly at: Instant;
}

/** In all; a few per tenant are usual. */
export const MAX_GRANTS = 50_000;

export const isGrantRole = (text: string): text is GrantRole => (GRANT_ROLES as readonly string[]).includes(text);

export type GrantKey = `${string} ${GrantRole} ${string}`;

/** None of the three holds a space, so the key is unambiguous. */
export const grantKey = ({ tenant, role, user }: Pick<Grant, "tenant" | "role" | "user">): GrantKey =>
  `${tenant} ${role} ${user}`;
