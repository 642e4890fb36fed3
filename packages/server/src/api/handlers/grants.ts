// Grants of roles in tenants, kept in the state. Administrators of the cluster grant `tenant_admin`; administrators of a
// tenant grant the right to claim its sensitive nodes. A grant never exceeds the rights of its grantor.

import { create } from "@bufbuild/protobuf";
import {
  GRANT_ROLES,
  type Grant,
  type GrantRole,
  grantKey,
  isGrantRole,
  parseTenantId,
  parseUserName,
  type TenantId,
  type UserName,
} from "@lattice/core";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid, unknownTenant } from "../../base/problems.ts";
import { authorize, authorizeList, reaches, reachOf } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";
import { inOrder, pageOf } from "./page.ts";

interface GrantId {
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
}

export async function addGrant(call: Call, request: pb.AddGrantRequest): Promise<pb.GrantResponse> {
  const named = nameOf(request);
  authorize(call.principal, "AccessService.AddGrant", { tenant: named.tenant, user: named.user });
  refuseRaising(call, named.role);
  const origin = originOf(call, pb.AddGrantRequestSchema, request);
  const { index } = await commit(call, { kind: "grant.add", origin, ...named });
  const made = find(call, named) ?? { ...named, by: origin.user, at: call.plane.now() };
  return create(pb.GrantResponseSchema, { grant: shown(made), logIndex: String(index) });
}

export async function removeGrant(call: Call, request: pb.RemoveGrantRequest): Promise<pb.GrantResponse> {
  const named = nameOf(request);
  authorize(call.principal, "AccessService.RemoveGrant", { tenant: named.tenant, user: named.user });
  refuseRaising(call, named.role);
  const before = find(call, named);
  const origin = originOf(call, pb.RemoveGrantRequestSchema, request);
  const { index } = await commit(call, { kind: "grant.remove", origin, ...named });
  return create(pb.GrantResponseSchema, {
    grant: shown(before ?? { ...named, by: origin.user, at: call.plane.now() }),
    logIndex: String(index),
  });
}

export async function listGrants(call: Call, request: pb.ListGrantsRequest): Promise<pb.ListGrantsResponse> {
  authorizeList(call.principal, "AccessService.ListGrants");
  const view = call.plane.view();
  const grants = Array.from(view.grants(), (grant) => ({ id: grantKey(grant) as string, grant }));
  const page = pageOf(inOrder(grants), request, ({ grant }) => {
    if (request.tenant !== "" && grant.tenant !== request.tenant) return false;
    if (request.user !== "" && grant.user !== request.user) return false;
    return reaches(call.principal, "AccessService.ListGrants", grant);
  });
  return create(pb.ListGrantsResponseSchema, {
    grants: page.shown.map(({ grant }) => shown(grant)),
    nextPageToken: page.next,
    logIndex: String(view.index),
  });
}

function nameOf(request: { readonly tenant: string; readonly user: string; readonly role: string }): GrantId {
  const tenant = parseTenantId(request.tenant);
  if (tenant === null) throw unknownTenant(request.tenant);
  const user = parseUserName(request.user);
  if (user === null) throw invalid("user", "is not a user name", "Use up to 128 characters without spaces, / and :.");
  const role = request.role.replaceAll("-", "_");
  if (!isGrantRole(role)) throw invalid("role", `must be one of ${GRANT_ROLES.join(", ")}`);
  return { tenant, user, role };
}

/** A tenant cannot grant its own administration. */
function refuseRaising(call: Call, role: GrantRole): void {
  if (role !== "tenant_admin" || reachOf(call.principal, "AccessService.AddGrant") === "all") return;
  const detail = `${call.principal.user} may not grant tenant_admin; that needs SystemAdmin.`;
  throw new ProblemError("forbidden", { detail });
}

const find = (call: Call, named: GrantId): Grant | undefined =>
  call.plane
    .view()
    .grantsOf(named.user)
    .find((grant) => grantKey(grant) === grantKey(named));

const shown = ({ tenant, user, role, by, at }: Grant): pb.Grant =>
  create(pb.GrantSchema, { tenant, user, role, grantedBy: by, grantedAt: timestampFromMs(at) });
