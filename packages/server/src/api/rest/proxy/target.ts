// Finds the endpoints of a service that the caller may use. A service of another tenant is as unknown as one that does
// not exist. Each admitted request counts against the limit of concurrent ones until it ends.

import { type ServiceEndpoint, serviceEndpoints, type TenantId, type View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Headers, Principal } from "../../../base/auth/principal.ts";
import { statedTenant, TENANT_HEADER } from "../../../base/auth/stated.ts";
import { type Target as Owner, reacher } from "../../access/authorize.ts";
import { withGrants } from "../../access/granted.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import type { RequestLog } from "../../call/request-log.ts";
import { contentOf } from "../../handlers/content.ts";
import type { ApiContext } from "../../invoke/invoke.ts";

export interface ProxyTarget {
  readonly user: string;
  /** Rotated, so that requests are spread round-robin. */
  readonly endpoints: readonly ServiceEndpoint[];
  /** Whether the caller, authenticated again, may still use the service. */
  same(now: Principal): boolean;
  /** Ends the count against the limit. */
  leave(): void;
}

let turn = 0;

/** Throws `unauthenticated`, `too_many_streams`, `unknown_service`, or `conflict` when several tenants use the name. */
export async function openTarget(
  api: ApiContext,
  headers: Headers,
  name: string,
  requestLog: RequestLog,
): Promise<ProxyTarget> {
  const known = await api.authenticator.authenticate(headers);
  requestLog.principal = known;
  const principal = withGrants(known, api.plane.view());
  const leave = api.gate.open(principal, PROXY_NAME);
  try {
    const { owners, endpoints } = find(api, principal, name, statedTenant(headers));
    const same = (now: Principal) =>
      now.user === principal.user && owners.every(reacher(withGrants(now, api.plane.view()), PROXY_NAME));
    return { user: principal.user, endpoints, same, leave };
  } catch (error) {
    leave();
    throw error;
  }
}

/** `narrowed` narrows the caller's reach and never widens it. */
function find({ plane }: ApiContext, principal: Principal, name: string, narrowed: TenantId | null) {
  const may = reacher(principal, PROXY_NAME);
  const view = plane.view();
  const found = [...serviceEndpoints(view)].filter(
    (endpoint) =>
      endpoint.name === name && may(ownerOf(view, endpoint)) && (narrowed === null || narrowed === endpoint.tenant),
  );
  const tenants = [...new Set(found.map(({ tenant }) => tenant))];
  const [tenant] = tenants;
  if (tenant === undefined) {
    const shown = JSON.stringify(name.slice(0, 80));
    throw new ProblemError("unknown_service", { detail: `No running allocation exposes a service ${shown}.` });
  }
  if (tenants.length > 1) {
    throw new ProblemError("conflict", {
      detail: `${tenants.length} tenants have a service with this name: ${tenants.join(", ")}.`,
      hint: `Name one with the header ${TENANT_HEADER}.`,
    });
  }
  const first = turn++ % found.length;
  const owners = found.map((endpoint) => ownerOf(view, endpoint));
  return { owners, endpoints: [...found.slice(first), ...found.slice(0, first)] };
}

function ownerOf(view: View, { allocation, tenant }: ServiceEndpoint): Owner {
  const record = view.allocation(allocation);
  return record === undefined ? { tenant, user: null } : contentOf(view, record);
}
