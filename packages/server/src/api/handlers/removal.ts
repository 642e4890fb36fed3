// Tenants and vClusters that are no longer wanted. Whether something still uses them is for the log to say.

import { create } from "@bufbuild/protobuf";
import { parseTenantId, parseVClusterId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { unknownTenant, unknownVCluster } from "../../base/problems.ts";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { commit, originOf } from "./commit.ts";

export async function deleteTenant(call: Call, request: pb.DeleteTenantRequest): Promise<pb.DeleteResponse> {
  const tenant = parseTenantId(request.id);
  if (tenant === null) throw unknownTenant(request.id);
  authorize(call.principal, "AdminService.DeleteTenant", { tenant, user: null });
  const origin = originOf(call, pb.DeleteTenantRequestSchema, request);
  const { index } = await commit(call, { kind: "tenant.delete", origin, tenant });
  return create(pb.DeleteResponseSchema, { id: tenant, logIndex: String(index) });
}

export async function deleteVCluster(call: Call, request: pb.DeleteVClusterRequest): Promise<pb.DeleteResponse> {
  const vcluster = parseVClusterId(request.id);
  if (vcluster === null) throw unknownVCluster(request.id);
  const tenant = call.plane.view().vcluster(vcluster)?.tenant ?? null;
  authorize(call.principal, "AdminService.DeleteVCluster", { tenant, user: null });
  const origin = originOf(call, pb.DeleteVClusterRequestSchema, request);
  const { index } = await commit(call, { kind: "vcluster.delete", origin, vcluster });
  return create(pb.DeleteResponseSchema, { id: vcluster, logIndex: String(index) });
}
