// The agents' service on this server: served here while this server leads, passed on to the leader
// otherwise, kept waiting while nobody leads. An agent need not know who leads; it dials any server.

import { create } from "@bufbuild/protobuf";
import {
  connectivityState,
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import type { GrpcService } from "../api/index.ts";
import type { Leader } from "../leader/lead.ts";
import { relayConnect, relayRunTasks, relaySendLogs, relayServeTerminal } from "../peers/agents.ts";
import type { LeaderLine } from "../peers/line.ts";
import type { Launches, RunTasksCall } from "../tasks/launches.ts";
import type { ServeTerminalCall, TerminalRelay } from "../terminals/relay.ts";
import { type ConnectCall, type ConnectContext, handleConnect } from "./connect.ts";
import type { FirstCertificate } from "./first-certificate.ts";
import type { LogRelay } from "./logs.ts";
import type { Renewal } from "./renewal.ts";
import { createWaitingRoom } from "./waiting-room.ts";

export interface AgentServiceParts {
  readonly context: ConnectContext;
  readonly leader: Leader;
  readonly line: LeaderLine;
  readonly logs: LogRelay;
  readonly terminals: TerminalRelay;
  readonly launches: Launches;
  readonly renew: Renewal;
  readonly issueFirst: FirstCertificate;
}

type ConnectStream = ServerDuplexStream<pb.AgentMessage, pb.ServerMessage>;

export function agentService({
  context,
  leader,
  line,
  logs,
  terminals,
  launches,
  ...parts
}: AgentServiceParts): GrpcService {
  const leads = () => leader.sequencer() !== null;
  const room = createWaitingRoom({ clock: context.clock, open: () => leads() || leaderAnswers(line) });

  function serve(call: ConnectStream): void {
    const peer = leads() ? null : line.client();
    if (leads()) handleConnect(context, call);
    else if (peer === null) refuseAgent(call);
    else relayConnect(peer, call);
  }

  /** Nothing is read from the stream until somebody serves it, so its hello is not lost. */
  function keepWaiting(call: ConnectStream): void {
    const leave = room.wait({
      enter: () => {
        call.off("cancelled", leave);
        serve(call);
      },
      refuse: () => refuseAgent(call),
    });
    call.on("cancelled", leave);
  }

  return {
    definition: serviceDefinition(pb.AgentService),
    implementation: {
      connect(call: ConnectStream) {
        if (leads() || leaderAnswers(line)) serve(call);
        else keepWaiting(call);
      },
      sendLogs(
        call: ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>,
        reply: sendUnaryData<pb.SendLogsResponse>,
      ) {
        const peer = leads() ? null : line.client();
        if (peer === null) return logs.receive(call, reply, (node) => context.stranger(call, node));
        relaySendLogs(peer, call, reply);
      },
      serveTerminal(call: ServeTerminalCall) {
        const peer = leads() ? null : line.client();
        if (peer === null) terminals.receive(call, (node) => context.stranger(call, node));
        else relayServeTerminal(peer, call);
      },
      runTasks(call: RunTasksCall) {
        const peer = leads() ? null : line.client();
        if (leads()) launches.receive(call, (node) => context.stranger(call, node));
        else if (peer !== null) relayRunTasks(peer, call);
        else call.emit("error", { code: status.UNAVAILABLE, details: "no server leads at the moment" });
      },
      // Whoever has the authority's key answers, whether it leads or not: nothing of it is in the log.
      renewCertificate: parts.renew,
      issueCertificate: parts.issueFirst,
    },
  };
}

/** One that has died leads by name until its lease ends; passing agents on to it would only send them away. */
function leaderAnswers(line: LeaderLine): boolean {
  const channel = line.client()?.channel.getChannel();
  return channel?.getConnectivityState(true) === connectivityState.READY;
}

/** The agent tries the next server, or this one a little later. */
export function refuseAgent(call: Pick<ConnectCall, "write" | "end">): void {
  const refused = create(pb.RefusedSchema, { code: "not_leader", detail: "no server leads at the moment" });
  call.write(create(pb.ServerMessageSchema, { message: { case: "refused", value: refused } }));
  call.end();
}
