// Notices to whoever asks: about the caller's own work, to the administrators of a tenant, to those of the cluster.

import { create } from "@bufbuild/protobuf";
import type { Notice } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { authorizeList, reachOf } from "../access/authorize.ts";
import type { Principal } from "../auth/principal.ts";
import type { Call } from "../call.ts";

const DEFAULT_LIMIT = 100;

export async function listNotices(call: Call, request: pb.ListNoticesRequest): Promise<pb.ListNoticesResponse> {
  authorizeList(call.principal, "EventService.ListNotices");
  const view = call.plane.view();
  const shown = [...view.notices()]
    .filter((notice) => (request.all || notice.clearedAt === undefined) && isFor(call.principal, notice))
    .reverse()
    .slice(0, request.limit || DEFAULT_LIMIT);
  return create(pb.ListNoticesResponseSchema, { notices: shown.map(toProto), logIndex: String(view.index) });
}

function isFor(principal: Principal, { tenant, user }: Notice): boolean {
  if (reachOf(principal, "EventService.ListNotices") === "all") return true;
  if (tenant === null || tenant !== principal.tenant) return false;
  if (user !== null && user === principal.user) return true;
  return principal.roles.includes("TenantAdmin");
}

const toProto = ({ at, allocation, clearedAt, tenant, user, ...rest }: Notice): pb.Notice =>
  create(pb.NoticeSchema, {
    ...rest,
    at: timestampFromMs(at),
    tenant: tenant ?? "",
    user: user ?? "",
    allocationId: allocation ?? "",
    ...(clearedAt === undefined ? {} : { clearedAt: timestampFromMs(clearedAt) }),
  });
