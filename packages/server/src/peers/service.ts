// The service between servers. A server that no longer leads refuses calls for the leader with `not_leader`; it never
// forwards them a second time.

import { create } from "@bufbuild/protobuf";
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  ServerWritableStream,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { attempt, type Command, parseAllocationId, parseNodeId } from "@lattice/core";
import { logStreamFromProto, ProblemError, pb, problemOf, serviceDefinition } from "@lattice/wire";
import { PEER_TOKEN_HEADER } from "../base/auth/peer-headers.ts";
import type { GrpcService } from "../base/grpc/service.ts";
import { statusOf } from "../base/grpc/status.ts";
import type { Leader } from "../lead/leader/lead.ts";
import type { AgentHub } from "../nodes/agents/hub.ts";
import type { LogRelay } from "../nodes/agents/logs.ts";
import type { AuditArchive } from "../state/audit/archive.ts";
import type { AuditKeyStore } from "../state/audit/key-store.ts";
import type { History } from "../state/history/index.ts";
import type { Replica } from "../state/replica/replica.ts";
import { type AuditCall, sendAudit } from "./audit.ts";
import { type ForwardCall, type RunForwarded, serveForwarded } from "./forward.ts";
import { type HistoryCall, sendHistory } from "./history.ts";
import { type MemberStatusSources, ownMemberStatus } from "./member-status.ts";

export interface PeerServiceParts {
  readonly leader: Leader;
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly logs: LogRelay;
  readonly history: History;
  readonly audit: AuditArchive;
  readonly auditKeys: AuditKeyStore;
  readonly status: MemberStatusSources;
  readonly run: RunForwarded;
  /** The token in this server's name in the election. */
  readonly token: string;
}

export function peerService(parts: PeerServiceParts): GrpcService {
  const implementation: UntypedServiceImplementation = {
    propose: propose(parts),
    getMemberStatus: getMemberStatus(parts),
    stepDown: stepDown(parts),
    getLiveness: liveness(parts),
    forward: forward(parts),
    readOutput: readOutput(parts),
    readHistory: readHistory(parts),
    readAudit: readAudit(parts),
    getAuditKey: getAuditKey(parts),
    putAuditKey: putAuditKey(parts),
  };
  return { definition: serviceDefinition(pb.PeerService), implementation };
}

const propose =
  ({ leader, token }: PeerServiceParts): handleUnaryCall<pb.ProposeRequest, pb.ProposeResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    const sequencer = leader.sequencer();
    if (sequencer === null) return reply(statusOf(notLeading().problem));
    sequencer.propose(JSON.parse(call.request.command) as Command).then(
      ({ outcome, index }) =>
        reply(null, create(pb.ProposeResponseSchema, { outcome: JSON.stringify(outcome), logIndex: String(index) })),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const getMemberStatus =
  ({ status, token }: PeerServiceParts): handleUnaryCall<pb.GetMemberStatusRequest, pb.GetMemberStatusResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    ownMemberStatus(status).then(
      (answer) => reply(null, answer),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const stepDown =
  ({ leader, token }: PeerServiceParts): handleUnaryCall<pb.StepDownRequest, pb.StepDownResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    const { to } = call.request;
    leader.stepDown(to === "" ? null : to).then(
      (led) => (led ? reply(null, create(pb.StepDownResponseSchema)) : reply(statusOf(notLeading().problem))),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const liveness =
  ({ leader, replica, hub, token }: PeerServiceParts): handleUnaryCall<pb.GetLivenessRequest, pb.GetLivenessResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    if (leader.sequencer() === null) return reply(statusOf(notLeading().problem));
    const nodes = [];
    for (const { id } of replica.view.nodes()) {
      nodes.push(
        create(pb.NodeLivenessSchema, { node: id, lastHeardMs: hub.lastHeard(id) ?? 0, connected: hub.connected(id) }),
      );
    }
    reply(null, create(pb.GetLivenessResponseSchema, { nodes }));
  };

const readOutput =
  ({ logs, token }: PeerServiceParts): handleServerStreamingCall<pb.ReadOutputRequest, pb.ReadOutputResponse> =>
  (call) => {
    if (!proves(call.metadata, token)) return refuseStream(call, notAPeer());
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const id = parseAllocationId(call.request.allocationId);
    if (id === null) return refuseStream(call, new ProblemError("unknown_allocation"));
    const node = parseNodeId(call.request.node);
    if (node === null) return refuseStream(call, new ProblemError("unknown_node"));
    const source = logs.open(
      {
        allocation: id,
        attempt: attempt(call.request.attempt),
        node,
        stream: logStreamFromProto(call.request.stream),
        tail: call.request.tail,
        follow: call.request.follow,
        offset: Number(call.request.offset),
        sinceMs: call.request.sinceMs,
        untilMs: call.request.untilMs,
      },
      gone.signal,
    );
    void pump(call, logChunks(source), gone.signal);
  };

async function* logChunks(
  source: AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>,
): AsyncGenerator<pb.ReadOutputResponse> {
  for await (const { data, offset } of source)
    yield create(pb.ReadOutputResponseSchema, { data, offset: String(offset) });
}

async function pump<Answer>(
  call: ServerWritableStream<unknown, Answer>,
  source: AsyncIterable<Answer>,
  gone: AbortSignal,
): Promise<void> {
  try {
    for await (const answer of source) {
      if (gone.aborted) return;
      if (call.write(answer)) continue;
      await new Promise<void>((resolve) => {
        call.once("drain", resolve);
        gone.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    call.end();
  } catch (error) {
    if (!gone.aborted) refuseStream(call, error);
  }
}

const readHistory =
  ({ history, token }: PeerServiceParts) =>
  (call: HistoryCall) => {
    if (!proves(call.metadata, token)) return refuseStream(call, notAPeer());
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    sendHistory(history, call, gone.signal).then(
      () => call.end(),
      (error: unknown) => {
        if (!gone.signal.aborted) refuseStream(call, error);
      },
    );
  };

const readAudit =
  ({ audit, token }: PeerServiceParts) =>
  (call: AuditCall) => {
    if (!proves(call.metadata, token)) return refuseStream(call, notAPeer());
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    sendAudit(audit, call, gone.signal).then(
      () => call.end(),
      (error: unknown) => {
        if (!gone.signal.aborted) refuseStream(call, error);
      },
    );
  };

const getAuditKey =
  ({ auditKeys, token }: PeerServiceParts): handleUnaryCall<pb.GetAuditKeyRequest, pb.GetAuditKeyResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    reply(null, create(pb.GetAuditKeyResponseSchema, { privateKey: auditKeys.pem(call.request.keyId) ?? "" }));
  };

const putAuditKey =
  ({ auditKeys, token }: PeerServiceParts): handleUnaryCall<pb.PutAuditKeyRequest, pb.PutAuditKeyResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(notAPeer().problem));
    try {
      reply(null, create(pb.PutAuditKeyResponseSchema, { keyId: auditKeys.add(call.request.privateKey).id }));
    } catch (error) {
      reply(statusOf(problemOf(error)));
    }
  };

/** The follower's statement of the principal is trusted only behind the same proof as a command. */
const forward =
  ({ leader, replica, run, token }: PeerServiceParts) =>
  (call: ForwardCall) => {
    if (!proves(call.metadata, token)) return refuseStream(call, notAPeer());
    if (leader.sequencer() === null) return refuseStream(call, notLeading());
    void serveForwarded(call, run, () => replica.head().index);
  };

function refuseStream(call: { emit(event: "error", error: Error): boolean }, error: unknown): void {
  const status = statusOf(problemOf(error));
  call.emit("error", Object.assign(new Error(status.details), status));
}

/** Commands from peers enter the log without authorization, so only servers of this cluster may send them. */
const proves = (metadata: Metadata, token: string): boolean => metadata.get(PEER_TOKEN_HEADER)[0] === token;

const notAPeer = () => new ProblemError("forbidden", { detail: "This service is for servers of the same cluster." });

const notLeading = () => new ProblemError("not_leader", { detail: "This server does not lead any more." });
