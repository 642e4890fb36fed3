// The status of the control plane; adds and removes members of the cluster, and transfers the leadership.

import { create } from "@bufbuild/protobuf";
import { isClusterId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { identityToProto, refuseNewMember } from "../../base/cluster-identity.ts";
import { parseListen } from "../../base/config/index.ts";
import { invalid } from "../../base/problems.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { recordAudit } from "./audit.ts";
import { originOf } from "./commit.ts";
import { once } from "./once.ts";

/** As server.id in the configuration. */
const SERVER_ID = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i;
/** A member without a server is named by its address. */
const MAX_MEMBER_NAME = 300;

export async function addMember(call: Call, request: pb.AddMemberRequest): Promise<pb.MembershipResponse> {
  const { id, peerAddress, replace, clusterId, clusterGeneration } = request;
  authorize(call.principal, "AdminService.AddMember", { ...UNOWNED, server: id });
  if (!SERVER_ID.test(id)) throw invalid("id", "must be letters, digits, dots and dashes, at most 63");
  const peer = parseListen(peerAddress);
  if (peer === null || peer.port === 0)
    throw invalid("peer_address", "is not an address", "Write host:port, for example lattice-04:9000.");
  if (clusterId !== "" && !isClusterId(clusterId)) throw invalid("cluster_id", "is not the identity of a cluster");
  const { identity } = call.plane.view();
  const stored = clusterId === "" ? null : { id: clusterId, generation: clusterGeneration };
  const refusal = refuseNewMember(id, stored, identity);
  if (refusal?.problem.code === "foreign_cluster")
    call.plane.membership.refused({ id, cluster: clusterId, text: refusal.problem.detail });
  if (refusal !== null) throw refusal;
  const record = () => recordAudit(call, "member.remove", { scope: "cluster", detail: `${id}, to be replaced` });
  const members = await call.plane.membership.add({ id, peer: peerAddress, replaces: replace ? record : null });
  // The member is added even when no leader takes the record now, so the answer does not wait for it. If the record is
  // never written, the access log still has the request.
  recordAudit(call, "member.add", { scope: "cluster", detail: `${id} at ${peerAddress}` }).catch(() => null);
  return create(pb.MembershipResponseSchema, { members: [...members], ...identityToProto(identity) });
}

export async function removeMember(call: Call, request: pb.RemoveMemberRequest): Promise<pb.MembershipResponse> {
  authorize(call.principal, "AdminService.RemoveMember", UNOWNED);
  const { membership } = call.plane;
  const id = named("id", request.id);
  const remove = async (write: () => Promise<unknown>) =>
    create(pb.MembershipResponseSchema, { members: [...(await membership.remove(id, write))] });
  return once(call, {
    origin: originOf(call, pb.RemoveMemberRequestSchema, request),
    schema: pb.MembershipResponseSchema,
    act: (write) => remove(() => write("member.remove", { scope: "cluster", detail: id })),
    // The record is written before the removal, so a repeated request completes a removal that failed after it.
    async again() {
      const members = await membership.list();
      if (members.some(({ id: own, etcd }) => [own, etcd?.name, etcd?.id].includes(id))) return remove(async () => {});
      return create(pb.MembershipResponseSchema, { members: [...members] });
    },
  });
}

export async function transferLeader(
  call: Call,
  request: pb.TransferLeaderRequest,
): Promise<pb.TransferLeaderResponse> {
  authorize(call.principal, "AdminService.TransferLeader", UNOWNED);
  const to = request.to === "" ? null : named("to", request.to);
  return once(call, {
    origin: originOf(call, pb.TransferLeaderRequestSchema, request),
    schema: pb.TransferLeaderResponseSchema,
    async act(write) {
      const { leader, term } = await call.plane.membership.transfer(to);
      const answer = create(pb.TransferLeaderResponseSchema, { leader, term: String(term) });
      // The transfer is done even if the new leader does not accept writes yet.
      await write("leader.transfer", { scope: "cluster", detail: `to ${leader} in term ${term}` }, answer).catch(
        () => null,
      );
      return answer;
    },
  });
}

function named(field: string, id: string): string {
  if (id === "" || id.length > MAX_MEMBER_NAME || !/^[\x21-\x7e]+$/.test(id))
    throw invalid(field, "is not the id of a member");
  return id;
}

export async function getClusterStatus(call: Call, _request: pb.GetClusterStatusRequest): Promise<pb.ClusterStatus> {
  authorize(call.principal, "AdminService.GetClusterStatus", UNOWNED);
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
    clusterId: plane.view().identity?.id ?? "",
  });
}
