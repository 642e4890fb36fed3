// A call by a given principal, for tests of handlers.

import type { TenantId, UserName } from "@lattice/core";
import type { Call } from "../../src/api/call/call.ts";
import type { Principal, Role } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";

const config = loadConfig(null, {
  api: { auto_create_tenants: true },
  scheduling: { impossible_requests: "warn" },
});

export const principal = (user: string, tenant: string | null, role: Role = "User"): Principal => ({
  user: user as UserName,
  tenant: tenant as TenantId | null,
  roles: [role],
  scopes: [],
});

export const callAs = (
  plane: Call["plane"],
  who: Principal,
  signal: AbortSignal = new AbortController().signal,
): Call => ({ plane, principal: who, signal, config, warnings: [] });
