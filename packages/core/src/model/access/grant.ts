// Roles stored in the state rather than in tokens: administrators of a tenant, and users of its sensitive nodes. A
// grant names one tenant and one user; the API decides what a role permits.

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

/** Limit for the cluster; a few per tenant are usual. */
export const MAX_GRANTS = 50_000;

export const isGrantRole = (text: string): text is GrantRole => (GRANT_ROLES as readonly string[]).includes(text);

export type GrantKey = `${string} ${GrantRole} ${string}`;

/** Tenant, user and role contain no space, so the key is unambiguous. */
export const grantKey = ({ tenant, role, user }: Pick<Grant, "tenant" | "role" | "user">): GrantKey =>
  `${tenant} ${role} ${user}`;
