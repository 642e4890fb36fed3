// The leader's side of the line between servers. A follower that asks a server which no longer
// leads is told so and finds the new one; nothing is passed on twice.

import { create } from "@bufbuild/protobuf";
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  ServerWritableStream,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { attempt, type Command, type NodeId, parseAllocationId } from "@lattice/core";
import { logStreamFromProto, ProblemError, pb, problemOf, serviceDefinition } from "@lattice/wire";
import type { AgentHub } from "../agents/hub.ts";
import type { ImageRelay } from "../agents/images.ts";
import type { LogRelay } from "../agents/logs.ts";
import { statusOf } from "../api/grpc/status.ts";
import type { GrpcService } from "../api/index.ts";
import type { AuditArchive } from "../audit/archive.ts";
import type { History } from "../history/index.ts";
import type { Insight, Question } from "../insight/index.ts";
import type { Leader } from "../leader/lead.ts";
import type { Replica } from "../replica/replica.ts";
import type { Launches } from "../tasks/launches.ts";
import type { TerminalRelay } from "../terminals/relay.ts";
import { answerRelayedTerminal, type RelayAttachCall } from "../terminals/relayed.ts";
import { PEER_TOKEN_HEADER } from "./address.ts";
import { type AuditCall, sendAudit } from "./audit.ts";
import { type HistoryCall, sendHistory } from "./history.ts";
import { ownStanding, type StandingParts } from "./standing.ts";

export interface PeerServiceParts {
  readonly leader: Leader;
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly logs: LogRelay;
  readonly terminals: TerminalRelay;
  readonly images: ImageRelay;
  readonly launches: Launches;
  readonly history: History;
  readonly audit: AuditArchive;
  readonly standing: StandingParts;
  readonly insight: Insight;
  /** Of this server's name in the election. */
  readonly token: string;
}

export function peerService(parts: PeerServiceParts): GrpcService {
  const implementation: UntypedServiceImplementation = {
    propose: propose(parts),
    getStanding: getStanding(parts),
    stepDown: stepDown(parts),
    getLiveness: liveness(parts),
    relayLogs: relayLogs(parts),
    relayLaunch: relayLaunch(parts),
    relayTaskInput: relayTaskInput(parts),
    relayTell: relayTell(parts),
    readHistory: readHistory(parts),
    readAudit: readAudit(parts),
    consult: consult(parts),
    relayAttach: relayAttach(parts),
    askImages: askImages(parts),
  };
  return { definition: serviceDefinition(pb.PeerService), implementation };
}

const propose =
  ({ leader, token }: PeerServiceParts): handleUnaryCall<pb.ProposeRequest, pb.ProposeResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    const sequencer = leader.sequencer();
    if (sequencer === null) return reply(statusOf(notLeading().problem));
    sequencer.propose(JSON.parse(call.request.command) as Command).then(
      ({ outcome, index }) =>
        reply(null, create(pb.ProposeResponseSchema, { outcome: JSON.stringify(outcome), logIndex: String(index) })),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const consult =
  ({ leader, insight, token }: PeerServiceParts): handleUnaryCall<pb.ConsultRequest, pb.ConsultResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    if (leader.sequencer() === null) return reply(statusOf(notLeading().problem));
    try {
      const answer = insight.answer(JSON.parse(call.request.question) as Question);
      reply(null, create(pb.ConsultResponseSchema, { answer: JSON.stringify(answer) }));
    } catch (error) {
      reply(statusOf(problemOf(error)));
    }
  };

const askImages =
  ({ leader, images, token }: PeerServiceParts): handleUnaryCall<pb.AskImagesRequest, pb.AskImagesResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    if (leader.sequencer() === null) return reply(statusOf(notLeading().problem));
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    const { node, request } = call.request;
    images.ask(node as NodeId, request?.ask ?? { case: undefined }, gone.signal).then(
      (answer) => reply(null, create(pb.AskImagesResponseSchema, { answer })),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const getStanding =
  ({ standing, token }: PeerServiceParts): handleUnaryCall<pb.GetStandingRequest, pb.GetStandingResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    ownStanding(standing).then(
      (answer) => reply(null, answer),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const stepDown =
  ({ leader, token }: PeerServiceParts): handleUnaryCall<pb.StepDownRequest, pb.StepDownResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    const { to } = call.request;
    leader.stepDown(to === "" ? null : to).then(
      (led) => (led ? reply(null, create(pb.StepDownResponseSchema)) : reply(statusOf(notLeading().problem))),
      (error: unknown) => reply(statusOf(problemOf(error))),
    );
  };

const liveness =
  ({ leader, replica, hub, token }: PeerServiceParts): handleUnaryCall<pb.GetLivenessRequest, pb.GetLivenessResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    if (leader.sequencer() === null) return reply(statusOf(notLeading().problem));
    const nodes = [];
    for (const { id } of replica.view.nodes()) {
      nodes.push(
        create(pb.NodeLivenessSchema, { node: id, lastHeardMs: hub.lastHeard(id) ?? 0, connected: hub.connected(id) }),
      );
    }
    reply(null, create(pb.GetLivenessResponseSchema, { nodes }));
  };

const relayLogs =
  ({ logs, token }: PeerServiceParts): handleServerStreamingCall<pb.RelayLogsRequest, pb.RelayLogsResponse> =>
  (call) => {
    if (!proves(call.metadata, token)) return refuseStream(call, stranger());
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const id = parseAllocationId(call.request.allocationId);
    if (id === null) return refuseStream(call, new ProblemError("unknown_allocation"));
    const source = logs.open(
      {
        allocation: id,
        attempt: attempt(call.request.attempt),
        node: call.request.node as NodeId,
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

const relayLaunch =
  ({
    leader,
    launches,
    token,
  }: PeerServiceParts): handleServerStreamingCall<pb.RelayLaunchRequest, pb.LaunchTasksResponse> =>
  (call) => {
    if (!proves(call.metadata, token)) return refuseStream(call, stranger());
    if (leader.sequencer() === null) return refuseStream(call, notLeading());
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const request = call.request.request ?? create(pb.LaunchTasksRequestSchema);
    void pump(call, launches.launch(request, { signal: gone.signal, relayed: true }), gone.signal);
  };

const relayTaskInput =
  ({ launches, token }: PeerServiceParts): handleUnaryCall<pb.RelayInputRequest, pb.SendTaskInputResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    try {
      launches.input(call.request.request ?? create(pb.SendTaskInputRequestSchema));
      reply(null, create(pb.SendTaskInputResponseSchema));
    } catch (error) {
      reply(statusOf(problemOf(error)));
    }
  };

const relayTell =
  ({ leader, launches, token }: PeerServiceParts): handleUnaryCall<pb.RelayTellRequest, pb.TellLaunchResponse> =>
  (call, reply) => {
    if (!proves(call.metadata, token)) return reply(statusOf(stranger().problem));
    if (leader.sequencer() === null) return reply(statusOf(notLeading().problem));
    try {
      launches.tell(call.request.request ?? create(pb.TellLaunchRequestSchema));
      reply(null, create(pb.TellLaunchResponseSchema));
    } catch (error) {
      reply(statusOf(problemOf(error)));
    }
  };

async function* logChunks(
  source: AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>,
): AsyncGenerator<pb.RelayLogsResponse> {
  for await (const { data, offset } of source)
    yield create(pb.RelayLogsResponseSchema, { data, offset: String(offset) });
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
    if (!proves(call.metadata, token)) return refuseStream(call, stranger());
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
    if (!proves(call.metadata, token)) return refuseStream(call, stranger());
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

const relayAttach =
  ({ terminals, token }: PeerServiceParts) =>
  (call: RelayAttachCall) => {
    if (!proves(call.metadata, token)) return refuseStream(call, stranger());
    answerRelayedTerminal(terminals, call).then(
      () => call.end(),
      (error: unknown) => {
        if (!call.cancelled) refuseStream(call, error);
      },
    );
  };

function refuseStream(call: { emit(event: "error", error: Error): boolean }, error: unknown): void {
  const status = statusOf(problemOf(error));
  call.emit("error", Object.assign(new Error(status.details), status));
}

/** A command from here goes into the log unchecked, so nobody but a server of this cluster may bring one. */
const proves = (metadata: Metadata, token: string): boolean => metadata.get(PEER_TOKEN_HEADER)[0] === token;

const stranger = () => new ProblemError("forbidden", { detail: "This service is for servers of the same cluster." });

const notLeading = () => new ProblemError("not_leader", { detail: "This server does not lead any more." });
