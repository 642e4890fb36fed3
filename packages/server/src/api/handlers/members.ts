// Changing who the members of the cluster are, and who leads.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { parseListen } from "../../base/config/index.ts";
import { invalid } from "../../base/problems.ts";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { writeDown } from "./audit.ts";
import { originOf } from "./commit.ts";
import { once } from "./once.ts";

/** As server.id in the configuration. */
const SERVER_ID = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i;
/** A member without a server is named by its address. */
const MAX_MEMBER_NAME = 300;

export async function addMember(call: Call, request: pb.AddMemberRequest): Promise<pb.MembershipResponse> {
  authorize(call.principal, "AdminService.AddMember", NOBODYS);
  const { id, peerAddress } = request;
  if (!SERVER_ID.test(id)) throw invalid("id", "must be letters, digits, dots and dashes, at most 63");
  const peer = parseListen(peerAddress);
  if (peer === null || peer.port === 0)
    throw invalid("peer_address", "is not an address", "Write host:port, for example lattice-04:9000.");
  const members = await call.plane.membership.add({ id, peer: peerAddress });
  // One of two members cannot write until the other one starts, so the answer must not wait for a write. Where nothing
  // comes to be written even then, the access log has the request.
  writeDown(call, "member.add", { scope: "cluster", detail: `${id} at ${peerAddress}` }).catch(() => null);
  return create(pb.MembershipResponseSchema, { members: [...members] });
}

export async function removeMember(call: Call, request: pb.RemoveMemberRequest): Promise<pb.MembershipResponse> {
  authorize(call.principal, "AdminService.RemoveMember", NOBODYS);
  const { membership } = call.plane;
  const id = named("id", request.id);
  const remove = async (write: () => Promise<unknown>) =>
    create(pb.MembershipResponseSchema, { members: [...(await membership.remove(id, write))] });
  return once(call, {
    origin: originOf(call, pb.RemoveMemberRequestSchema, request),
    schema: pb.MembershipResponseSchema,
    act: (write) => remove(() => write("member.remove", { scope: "cluster", detail: id })),
    // It is written down before it is done: what did not come to pass then is done now.
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
  authorize(call.principal, "AdminService.TransferLeader", NOBODYS);
  const to = request.to === "" ? null : named("to", request.to);
  return once(call, {
    origin: originOf(call, pb.TransferLeaderRequestSchema, request),
    schema: pb.TransferLeaderResponseSchema,
    async act(write) {
      const { leader, term } = await call.plane.membership.transfer(to);
      const answer = create(pb.TransferLeaderResponseSchema, { leader, term: String(term) });
      // The new leader may not take anything yet; it leads all the same.
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
