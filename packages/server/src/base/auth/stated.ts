// A cluster without authentication: the caller is believed, as the user it states and as
// SystemAdmin. That is acceptable only where the port is, so `checkExposure` refuses to start a
// server that would listen beyond this machine without explicit permission.

import { parseTenantId, parseUserName, type TenantId, type UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Config } from "../config/index.ts";
import { formatListen, isLoopback } from "../config/index.ts";
import type { Headers, Principal } from "./principal.ts";

export const USER_HEADER = "x-lattice-user";
export const TENANT_HEADER = "x-lattice-tenant";

const ANONYMOUS = "anonymous" as UserName;

export function statedPrincipal(headers: Headers): Principal {
  const stated = decoded(headers(USER_HEADER));
  const user = stated === undefined || stated === "" ? ANONYMOUS : parseUserName(stated);
  if (user === null) throw bad(USER_HEADER, "is not a user name", "Use up to 128 characters without spaces, / and :.");
  return { user, tenant: statedTenant(headers), roles: ["SystemAdmin"], scopes: [] };
}

/**
 * The tenant whose things a caller means; null: it does not say. Where callers prove who they are this says nothing about who they
 * are: it may narrow what they see, and never widen it.
 */
export function statedTenant(headers: Headers): TenantId | null {
  const text = decoded(headers(TENANT_HEADER));
  if (text === undefined || text === "") return null;
  const tenant = parseTenantId(text);
  if (tenant !== null) return tenant;
  throw bad(TENANT_HEADER, "is not a tenant name", "Use letters, digits, dots and dashes, at most 63.");
}

/** Names beyond ASCII come percent-encoded; what does not decode is taken as it is, and refused as a name. */
function decoded(text: string | undefined): string | undefined {
  if (text === undefined || !text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bad(field: string, detail: string, hint: string): ProblemError {
  return new ProblemError("invalid_argument", { detail: `${field} ${detail}.`, fields: [{ field, detail, hint }] });
}

/** Throws when an unauthenticated API would be reachable from elsewhere without having been asked for. */
export function checkExposure(api: Config["api"]): void {
  if (api.auth.kind !== "none" || api.allowUnauthenticated) return;
  const exposed = [api.grpcListen, api.restListen].filter((address) => !isLoopback(address.host)).map(formatListen);
  if (exposed.length === 0) return;
  throw new Error(
    `Authentication is not configured, and ${exposed.join(" and ")} can be reached from other machines: every caller ` +
      "there would be an administrator. Listen on 127.0.0.1, set api.oidc_issuer, or set " +
      "api.allow_unauthenticated: true.",
  );
}
