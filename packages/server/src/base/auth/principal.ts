// The principal of a call. Created by the authenticator and trusted by everything after it.

import type { PeerCertificate } from "node:tls";
import type { TenantId, UserName } from "@lattice/core";

export const ROLES = ["SystemAdmin", "TenantAdmin", "Operator", "ClaimingUser", "ReadOnly", "User"] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

/** Permits a server to join the cluster under the id that is the user of the token; `any`: under every id. */
export const SERVER_SCOPE = "member";
export const ANY_SERVER_SCOPE = "member:any";

export interface Principal {
  readonly user: UserName;
  /** `null` for a principal without a tenant. */
  readonly tenant: TenantId | null;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  /** Roles in tenants that the state grants. Default: none. */
  readonly grants?: readonly { readonly tenant: TenantId; readonly role: Role }[];
}

/** The headers of a caller by lower-case name. */
export interface Headers {
  (name: string): string | undefined;
  /** Returns the client certificate, verified by the listener; `null` without one. */
  readonly certificate?: () => PeerCertificate | null;
}
