// Notices for the caller: about its own work, for administrators of its tenant, for administrators of the cluster.

import { create } from "@bufbuild/protobuf";
import type { Notice } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { authorizeList, reacher } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

const DEFAULT_LIMIT = 100;

export async function listNotices(call: Call, request: pb.ListNoticesRequest): Promise<pb.ListNoticesResponse> {
  authorizeList(call.principal, "EventService.ListNotices");
  const view = call.plane.view();
  // Notices without a user are for the administrators of the tenant, or of the cluster.
  const sees = reacher(call.principal, "EventService.ListNotices");
  const shown = [...view.notices()]
    .filter((notice) => (request.all || notice.clearedAt === undefined) && sees(notice))
    .reverse()
    .slice(0, request.limit || DEFAULT_LIMIT);
  return create(pb.ListNoticesResponseSchema, { notices: shown.map(toProto), logIndex: String(view.index) });
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
