// Asks whatever answers at an address to take a new member in. The address may be the gRPC or the REST
// port of a server, or a client endpoint of etcd; which of them it is shows in how it answers.

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

/** The cluster itself waits some seconds before it takes another member. */
const ASK_TIMEOUT_MS = 20_000;

export interface Joining {
  readonly id: string;
  /** Where its member of etcd will speak with the others. */
  readonly peerAddress: string;
}

export type JoinAnswer =
  | { readonly kind: "members"; readonly members: readonly MemberPlace[] }
  | { readonly kind: "refused"; readonly problem: Problem }
  /** Something answers, and it is no server of ours. */
  | { readonly kind: "stranger" }
  | { readonly kind: "silent"; readonly why: string };

export const askToJoin = (address: string, joining: Joining, how?: ChannelCredentials): Promise<JoinAnswer> =>
  /^https?:\/\//.test(address)
    ? askOverRest(address.replace(/\/+$/, ""), joining)
    : askOverGrpc(address, joining, how ?? credentials.createInsecure());

const requestOf = ({ id, peerAddress }: Joining) => create(pb.AddMemberRequestSchema, { id, peerAddress });

async function askOverRest(url: string, joining: Joining): Promise<JoinAnswer> {
  try {
    const answer = await fetch(`${url}/api/v1/raft/members`, {
      method: "POST",
      headers: { "content-type": "application/json", [USER_HEADER]: joining.id },
      body: JSON.stringify(toJson(pb.AddMemberRequestSchema, requestOf(joining))),
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok) return membersOf(fromJson(pb.MembershipResponseSchema, body) as pb.MembershipResponse);
    const named = typeof body === "object" && body !== null && "code" in body && "type" in body;
    return named ? { kind: "refused", problem: problemFromJson(body, answer.status) } : { kind: "stranger" };
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: "silent", why: cause instanceof Error ? cause.message : message };
  }
}

function askOverGrpc(address: string, joining: Joining, how: ChannelCredentials): Promise<JoinAnswer> {
  const method = serviceDefinition(pb.AdminService).AddMember;
  if (method === undefined) throw new Error("the contract has no AddMember");
  const channel = new Client(address, how);
  const stated = new Metadata();
  stated.set(USER_HEADER, joining.id);
  const options = { deadline: Date.now() + ASK_TIMEOUT_MS };
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
  return error.code === status.UNIMPLEMENTED ? { kind: "stranger" } : { kind: "silent", why: error.details };
}

const membersOf = ({ members }: pb.MembershipResponse): JoinAnswer => ({
  kind: "members",
  members: members.flatMap(({ etcd }) => (etcd === undefined ? [] : [{ name: etcd.name, peer: etcd.peerAddress }])),
});
