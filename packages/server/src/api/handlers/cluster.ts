// The state of the control plane itself: who leads, how far the log is.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";

export async function getClusterStatus(call: Call, _request: pb.GetClusterStatusRequest): Promise<pb.ClusterStatus> {
  authorize(call.principal, "AdminService.GetClusterStatus", NOBODYS);
  const { plane } = call;
  const members = await plane.membership.list();
  const status = plane.logStatus();
  return create(pb.ClusterStatusSchema, {
    engine: status.engine,
    term: String(status.term),
    leader: status.leader ?? "",
    isLeader: status.isLeader,
    lastIndex: String(status.lastIndex),
    appliedIndex: String(status.appliedIndex),
    snapshotIndex: String(status.snapshot?.index ?? 0),
    stateHash: plane.stateHash(),
    members: [...members],
    logBytes: status.bytes,
    writable: status.unwritable === null,
    unwritableReason: status.unwritable ?? "",
  });
}
