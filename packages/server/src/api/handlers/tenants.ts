// Tenants and their quotas.

import { create } from "@bufbuild/protobuf";
import { MAX_PREEMPTION_CLASS, parseTenantId, type Tenant, UNLIMITED, type UpdateTenantCommand } from "@lattice/core";
import { pb, quotaFromProto, tenantToProto } from "@lattice/wire";
import { checkText, invalid, unknownTenant } from "../../base/problems.ts";
import { authorize, authorizeList, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_DESCRIPTION_LENGTH } from "../limits/limits.ts";
import { commit, originOf } from "./commit.ts";
import { inOrder, pageOf } from "./page.ts";

export async function createTenant(call: Call, request: pb.CreateTenantRequest): Promise<pb.TenantResponse> {
  const tenant = parseTenantId(request.id);
  if (tenant === null) throw invalid("id", NOT_A_NAME, NAME_HINT);
  authorize(call.principal, "AdminService.CreateTenant", { tenant, user: null });
  checkText("description", request.description, MAX_DESCRIPTION_LENGTH);
  const { index } = await commit(call, {
    kind: "tenant.create",
    origin: originOf(call, pb.CreateTenantRequestSchema, request),
    tenant,
    description: request.description,
    quota: { ...UNLIMITED, ...quotaFromProto(request.quota) },
    maxPreemptionClass: request.maxPreemptionClass ?? MAX_PREEMPTION_CLASS,
  });
  return create(pb.TenantResponseSchema, { tenant: shown(call, find(call, tenant)), logIndex: String(index) });
}

export async function getTenant(call: Call, request: pb.GetTenantRequest): Promise<pb.Tenant> {
  const tenant = find(call, request.id);
  authorize(call.principal, "AdminService.GetTenant", targetOf(tenant));
  return shown(call, tenant);
}

export async function listTenants(call: Call, request: pb.ListTenantsRequest): Promise<pb.ListTenantsResponse> {
  authorizeList(call.principal, "AdminService.ListTenants");
  const view = call.plane.view();
  const visible = (tenant: Tenant) => reaches(call.principal, "AdminService.ListTenants", targetOf(tenant));
  const page = pageOf(inOrder(view.tenants()), request, visible);
  return create(pb.ListTenantsResponseSchema, {
    tenants: page.shown.map((tenant) => shown(call, tenant)),
    nextPageToken: page.next,
    logIndex: String(view.index),
  });
}

export async function updateTenant(call: Call, request: pb.UpdateTenantRequest): Promise<pb.TenantResponse> {
  const tenant = find(call, request.id);
  authorize(call.principal, "AdminService.UpdateTenant", targetOf(tenant));
  checkText("description", request.description ?? "", MAX_DESCRIPTION_LENGTH);
  const quota = quotaFromProto(request.quota, request.unset);
  const change: UpdateTenantCommand["change"] = {
    ...(request.description === undefined ? {} : { description: request.description }),
    ...(Object.keys(quota).length === 0 ? {} : { quota }),
    ...(request.maxPreemptionClass === undefined ? {} : { maxPreemptionClass: request.maxPreemptionClass }),
  };
  if (Object.keys(change).length === 0)
    throw invalid("body", "changes nothing", "Name description, quota, max_preemption_class or unset.");
  const origin = originOf(call, pb.UpdateTenantRequestSchema, request);
  const within = reaches(call.principal, "AdminService.CreateTenant", targetOf(tenant))
    ? null
    : { within: true as const };
  const { index } = await commit(call, { kind: "tenant.update", origin, tenant: tenant.id, change, ...within });
  return create(pb.TenantResponseSchema, { tenant: shown(call, find(call, tenant.id)), logIndex: String(index) });
}

const NOT_A_NAME = "is not a name";
const NAME_HINT =
  "Use letters, digits, dots, dashes and underscores, at most 63, beginning and ending with a letter or digit.";

function find(call: Call, id: string): Tenant {
  const parsed = parseTenantId(id);
  const tenant = parsed === null ? undefined : call.plane.view().tenant(parsed);
  if (tenant === undefined) throw unknownTenant(id);
  return tenant;
}

const targetOf = (tenant: Tenant): Target => ({ tenant: tenant.id, user: null });

const shown = (call: Call, tenant: Tenant): pb.Tenant => tenantToProto(tenant, call.plane.view().usage(tenant.id));

export async function deleteTenant(call: Call, request: pb.DeleteTenantRequest): Promise<pb.DeleteResponse> {
  const tenant = parseTenantId(request.id);
  if (tenant === null) throw unknownTenant(request.id);
  authorize(call.principal, "AdminService.DeleteTenant", { tenant, user: null });
  const origin = originOf(call, pb.DeleteTenantRequestSchema, request);
  const { index } = await commit(call, { kind: "tenant.delete", origin, tenant });
  return create(pb.DeleteResponseSchema, { id: tenant, logIndex: String(index) });
}
