// Requests membership at an address, which may be the gRPC or the REST port of a server, or a client endpoint of etcd.
// The answer shows which of them it is.

import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import {
  fromJson,
  GRPC_DETAILS_TRAILER,
  type Problem,
  pb,
  problemFromGrpc,
  problemFromJson,
  serviceDefinition,
  toJson,
} from "@lattice/wire";
import { USER_HEADER } from "../base/auth/stated.ts";
import type { MemberPlace } from "../log/index.ts";

/** The cluster waits some seconds before it adds another member. */
const REQUEST_TIMEOUT_MS = 20_000;

interface JoinRequest {
  readonly id: string;
  /** The peer address of its etcd member. */
  readonly peerAddress: string;
}

export type JoinAnswer =
  | { readonly kind: "members"; readonly members: readonly MemberPlace[] }
  | { readonly kind: "refused"; readonly problem: Problem }
  /** The address answers, but is not a Lattice server. */
  | { readonly kind: "not_a_server" }
  | { readonly kind: "silent"; readonly why: string };

export const askToJoin = (address: string, joining: JoinRequest, how?: ChannelCredentials): Promise<JoinAnswer> =>
  /^https?:\/\//.test(address)
    ? askOverRest(address.replace(/\/+$/, ""), joining)
    : askOverGrpc(address, joining, how ?? credentials.createInsecure());

const requestOf = ({ id, peerAddress }: JoinRequest) => create(pb.AddMemberRequestSchema, { id, peerAddress });

async function askOverRest(url: string, joining: JoinRequest): Promise<JoinAnswer> {
  try {
    const answer = await fetch(`${url}/api/v1/raft/members`, {
      method: "POST",
      headers: { "content-type": "application/json", [USER_HEADER]: joining.id },
      body: JSON.stringify(toJson(pb.AddMemberRequestSchema, requestOf(joining))),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok) return membersOf(fromJson(pb.MembershipResponseSchema, body) as pb.MembershipResponse);
    const named = typeof body === "object" && body !== null && "code" in body && "type" in body;
    return named ? { kind: "refused", problem: problemFromJson(body, answer.status) } : { kind: "not_a_server" };
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: "silent", why: cause instanceof Error ? cause.message : message };
  }
}

function askOverGrpc(address: string, joining: JoinRequest, how: ChannelCredentials): Promise<JoinAnswer> {
  const method = serviceDefinition(pb.AdminService).AddMember;
  if (method === undefined) throw new Error("the contract has no AddMember");
  const channel = new Client(address, how);
  const stated = new Metadata();
  stated.set(USER_HEADER, joining.id);
  const options = { deadline: Date.now() + REQUEST_TIMEOUT_MS };
  return new Promise<JoinAnswer>((resolve) => {
    const { path, requestSerialize, responseDeserialize } = method;
    channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      requestOf(joining),
      stated,
      options,
      (error: ServiceError | null, answer) =>
        resolve(error === null ? membersOf(answer as pb.MembershipResponse) : whyNot(error)),
    );
  }).finally(() => channel.close());
}

function whyNot(error: ServiceError): JoinAnswer {
  const detailsBin = error.metadata?.get(GRPC_DETAILS_TRAILER)[0];
  if (detailsBin instanceof Uint8Array) {
    return { kind: "refused", problem: problemFromGrpc({ code: error.code, message: error.details, detailsBin }) };
  }
  return error.code === status.UNIMPLEMENTED ? { kind: "not_a_server" } : { kind: "silent", why: error.details };
}

const membersOf = ({ members }: pb.MembershipResponse): JoinAnswer => ({
  kind: "members",
  members: members.flatMap(({ etcd }) => (etcd === undefined ? [] : [{ name: etcd.name, peer: etcd.peerAddress }])),
});
