// The service registry. By default a caller sees only the services of its own tenant.

import { create } from "@bufbuild/protobuf";
import { type ServiceEndpoint, serviceEndpoints } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { authorizeList, reacher } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

export async function listServices(call: Call, request: pb.ListServicesRequest): Promise<pb.ListServicesResponse> {
  authorizeList(call.principal, "AdminService.ListServices");
  const counts = new Map<string, { name: string; tenant: string; endpoints: number }>();
  for (const endpoint of visible(call, request.tenant)) {
    const key = `${endpoint.tenant}/${endpoint.name}`;
    const known = counts.get(key) ?? { name: endpoint.name, tenant: endpoint.tenant, endpoints: 0 };
    counts.set(key, { ...known, endpoints: known.endpoints + 1 });
  }
  const services = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, summary]) => summary);
  return create(pb.ListServicesResponseSchema, { services });
}

export async function lookupService(call: Call, request: pb.LookupServiceRequest): Promise<pb.LookupServiceResponse> {
  authorizeList(call.principal, "AdminService.LookupService");
  const found = visible(call, request.tenant).filter(({ name }) => name === request.name);
  if (found.length === 0) {
    const name = JSON.stringify(request.name.slice(0, 80));
    throw new ProblemError("unknown_service", { detail: `No running allocation exposes a service ${name}.` });
  }
  return create(pb.LookupServiceResponseSchema, {
    name: request.name,
    endpoints: found.map(({ allocation, name: _, ...rest }) => ({ ...rest, allocationId: allocation })),
  });
}

/** The tenants in the request and in the header x-lattice-tenant narrow the caller's reach and never widen it. */
function visible(call: Call, named: string): ServiceEndpoint[] {
  const stated = call.statedTenant?.() ?? "";
  const may = reacher(call.principal, "AdminService.LookupService");
  return [...serviceEndpoints(call.plane.view())].filter(
    ({ tenant }) =>
      (named === "" || tenant === named) && (stated === "" || tenant === stated) && may({ tenant, user: null }),
  );
}
