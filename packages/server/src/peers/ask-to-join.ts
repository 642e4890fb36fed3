// Requests membership at an address, which may be the gRPC or the REST port of a server, or a client endpoint of etcd.
// The answer shows which of them it is. The new server authenticates with its token or its certificate.

import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, connectivityState, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ClusterIdentity, KnownIdentity } from "@lattice/core";
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
import { identityFromProto } from "../base/cluster-identity.ts";
import type { TlsMaterial } from "../base/tls/material.ts";
import type { MemberPlace } from "../log/index.ts";
import { postJson } from "./post-json.ts";

/** The cluster waits some seconds before it adds another member. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Without a connection by then, the address is silent. */
const CONNECT_TIMEOUT_MS = 4_000;

interface JoinRequest {
  readonly id: string;
  /** The peer address of its etcd member. */
  readonly peerAddress: string;
  /** Whether its member has lost its data and is replaced. */
  readonly replace: boolean;
  /** The cluster of which this server's other data is. `null`: none. */
  readonly own: KnownIdentity | null;
}

/** How the new server calls, and how it proves who it is. */
export interface JoinIdentity {
  readonly credentials: ChannelCredentials;
  /** `null` without TLS. */
  readonly tls: Pick<TlsMaterial, "ca" | "cert" | "key"> | null;
  readonly token: string | null;
}

export type JoinAnswer =
  | {
      readonly kind: "members";
      readonly members: readonly MemberPlace[];
      /** `null`: the cluster names none. */
      readonly cluster: ClusterIdentity | null;
    }
  | { readonly kind: "refused"; readonly problem: Problem }
  /** The address answers, but is not a Lattice server. */
  | { readonly kind: "not_a_server" }
  /** No connection, because the two sides do not agree on TLS. */
  | { readonly kind: "untrusted"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string };

export const askToJoin = (address: string, joining: JoinRequest, identity: JoinIdentity): Promise<JoinAnswer> =>
  /^https?:\/\//.test(address)
    ? askOverRest(address.replace(/\/+$/, ""), joining, identity)
    : askOverGrpc(address, joining, identity);

const requestOf = ({ id, peerAddress, replace, own }: JoinRequest) =>
  create(pb.AddMemberRequestSchema, {
    id,
    peerAddress,
    replace,
    ...(own === null ? {} : { clusterId: own.id, clusterGeneration: own.generation }),
  });

const authorization = (token: string | null): Readonly<Record<string, string>> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

async function askOverRest(url: string, joining: JoinRequest, { tls, token }: JoinIdentity): Promise<JoinAnswer> {
  try {
    const answer = await postJson(`${url}/api/v1/raft/members`, {
      headers: { [USER_HEADER]: joining.id, ...authorization(token) },
      body: JSON.stringify(toJson(pb.AddMemberRequestSchema, requestOf(joining))),
      tls,
      timeoutMs: REQUEST_TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    const { body } = answer;
    if (answer.status === 200) return membersOf(fromJson(pb.MembershipResponseSchema, body) as pb.MembershipResponse);
    const named = typeof body === "object" && body !== null && "code" in body && "type" in body;
    return named ? { kind: "refused", problem: problemFromJson(body, answer.status) } : { kind: "not_a_server" };
  } catch (error) {
    return unreachable((error as Error).message);
  }
}

function askOverGrpc(address: string, joining: JoinRequest, identity: JoinIdentity): Promise<JoinAnswer> {
  const method = serviceDefinition(pb.AdminService).AddMember;
  if (method === undefined) throw new Error("the contract has no AddMember");
  const channel = new Client(address, identity.credentials);
  const metadata = new Metadata();
  const headers = { [USER_HEADER]: joining.id, ...authorization(identity.token) };
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const options = { deadline: Date.now() + REQUEST_TIMEOUT_MS };
  return new Promise<JoinAnswer>((resolve) => {
    const { path, requestSerialize, responseDeserialize } = method;
    const call = channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      requestOf(joining),
      metadata,
      options,
      (error: ServiceError | null, answer) => {
        clearTimeout(connecting);
        resolve(error === null ? membersOf(answer as pb.MembershipResponse) : whyNot(error));
      },
    );
    const connecting = setTimeout(() => {
      if (channel.getChannel().getConnectivityState(false) === connectivityState.READY) return;
      resolve({ kind: "silent", why: `no connection within ${CONNECT_TIMEOUT_MS / 1_000} s` });
      call.cancel();
    }, CONNECT_TIMEOUT_MS);
  }).finally(() => channel.close());
}

function whyNot(error: ServiceError): JoinAnswer {
  const detailsBin = error.metadata?.get(GRPC_DETAILS_TRAILER)[0];
  if (detailsBin instanceof Uint8Array) {
    return { kind: "refused", problem: problemFromGrpc({ code: error.code, message: error.details, detailsBin }) };
  }
  return error.code === status.UNIMPLEMENTED ? { kind: "not_a_server" } : unreachable(error.details);
}

/** Texts of Node and OpenSSL for a handshake that another try does not change. */
const HANDSHAKE_REFUSED = /certificate|altname|wrong version number|tlsv1 alert|sslv3 alert|unsupported protocol/i;

const unreachable = (why: string): JoinAnswer => ({ kind: HANDSHAKE_REFUSED.test(why) ? "untrusted" : "silent", why });

const membersOf = ({ members, ...answer }: pb.MembershipResponse): JoinAnswer => ({
  kind: "members",
  cluster: identityFromProto(answer),
  members: members.flatMap(({ etcd }) => (etcd === undefined ? [] : [{ name: etcd.name, peer: etcd.peerAddress }])),
});
