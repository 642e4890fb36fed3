// A cluster without authentication: every caller is the user it states, with the role SystemAdmin.
// `checkExposure` refuses to start a server that would listen outside this machine in this way without explicit
// permission.

import { parseTenantId, parseUserName, type TenantId } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Config } from "../config/index.ts";
import { formatListen, isLoopback } from "../config/index.ts";
import type { Headers, Principal } from "./principal.ts";

export const USER_HEADER = "x-lattice-user";
export const TENANT_HEADER = "x-lattice-tenant";

const ANONYMOUS = "anonymous";

export function statedPrincipal(headers: Headers): Principal {
  const stated = decoded(headers(USER_HEADER));
  const user = parseUserName(stated === undefined || stated === "" ? ANONYMOUS : stated);
  if (user === null) throw bad(USER_HEADER, "is not a user name", "Use up to 128 characters without spaces, / and :.");
  return { user, tenant: statedTenant(headers), roles: ["SystemAdmin"], scopes: [] };
}

/**
 * Returns the tenant of the header, or `null` without the header. With authentication it may narrow what a caller sees
 * and never widens it.
 */
export function statedTenant(headers: Headers): TenantId | null {
  const text = decoded(headers(TENANT_HEADER));
  if (text === undefined || text === "") return null;
  const tenant = parseTenantId(text);
  if (tenant !== null) return tenant;
  throw bad(TENANT_HEADER, "is not a tenant name", "Use letters, digits, dots and dashes, at most 63.");
}

/** Non-ASCII names are percent-encoded; text that does not decode is refused later as a name. */
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

/** Throws when an unauthenticated API would be reachable from other machines without explicit permission. */
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
