// Who a call comes from. Made by the authenticator, trusted by everything behind it.

import type { TenantId, UserName } from "@lattice/core";
import type { ShownCertificate } from "../tls/shown.ts";

export const ROLES = ["SystemAdmin", "TenantAdmin", "Operator", "ClaimingUser", "ReadOnly", "User"] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

export interface Principal {
  readonly user: UserName;
  /** `null` for a principal without a tenant. */
  readonly tenant: TenantId | null;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  /** Roles in tenants that the state grants; absent: none. */
  readonly grants?: readonly { readonly tenant: TenantId; readonly role: Role }[];
}

/** What a caller shows: header values by lower-case name, undefined when absent. */
export interface Headers {
  (name: string): string | undefined;
  /** What its connection has shown besides, found good by the listener; null: nothing. */
  readonly certificate?: () => ShownCertificate | null;
}
