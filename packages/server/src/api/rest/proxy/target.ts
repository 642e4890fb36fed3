// Where a request for a service goes: the endpoints of that name which the caller may speak to. Somebody else's
// service is as unknown as one that is not there.

import { hostname } from "node:os";
import { type ServiceEndpoint, serviceEndpoints } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { reacher } from "../../access/authorize.ts";
import { withGrants } from "../../access/granted.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import type { Headers } from "../../auth/principal.ts";
import { TENANT_HEADER } from "../../auth/stated.ts";
import type { Door } from "../../invoke.ts";

export interface Target {
  readonly user: string;
  /** In turn, beginning with the one whose turn it is. */
  readonly endpoints: readonly ServiceEndpoint[];
}

let turn = 0;

/** Throws `unauthenticated`, `unknown_service`, or `conflict` when several tenants have one of that name. */
export async function targetOf(door: Door, headers: Headers, name: string): Promise<Target> {
  const principal = withGrants(await door.authenticator.authenticate(headers), door.plane.view());
  door.gate.enter(principal, PROXY_NAME);
  const may = reacher(principal, PROXY_NAME);
  // Narrows what may be seen, and never widens it.
  const narrowed = headers(TENANT_HEADER) ?? "";
  const found = [...serviceEndpoints(door.plane.view())].filter(
    (endpoint) =>
      endpoint.name === name &&
      may({ tenant: endpoint.tenant, user: null }) &&
      (narrowed === "" || narrowed === endpoint.tenant),
  );
  if (found.length === 0) {
    const shown = JSON.stringify(name.slice(0, 80));
    throw new ProblemError("unknown_service", { detail: `No running allocation exposes a service ${shown}.` });
  }
  const tenants = [...new Set(found.map(({ tenant }) => tenant))];
  if (tenants.length > 1) {
    throw new ProblemError("conflict", {
      detail: `${tenants.length} tenants have a service of this name: ${tenants.join(", ")}.`,
      hint: `Name one with the header ${TENANT_HEADER}.`,
    });
  }
  const first = turn++ % found.length;
  return { user: principal.user, endpoints: [...found.slice(first), ...found.slice(0, first)].flatMap(addressesOf) };
}

/** On this very machine a service may listen on loopback alone. */
const addressesOf = (endpoint: ServiceEndpoint): ServiceEndpoint[] =>
  endpoint.address === hostname() ? [{ ...endpoint, address: LOOPBACK }, endpoint] : [endpoint];

const LOOPBACK = "127.0.0.1";
