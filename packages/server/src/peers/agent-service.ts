// The agents' service: served here while this server leads, relayed to the leader otherwise, and kept waiting while there
// is no leader. An agent may dial any server.

import { create } from "@bufbuild/protobuf";
import {
  connectivityState,
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import type { GrpcService } from "../base/grpc/service.ts";
import type { Leader } from "../lead/leader/lead.ts";
import { type ConnectCall, type ConnectContext, handleConnect } from "../nodes/agents/connect.ts";
import type { FirstCertificate } from "../nodes/agents/first-certificate.ts";
import type { LogRelay } from "../nodes/agents/logs.ts";
import type { Renewal } from "../nodes/agents/renewal.ts";
import type { Launches, RunTasksCall } from "../nodes/tasks/launches.ts";
import type { ServeTerminalCall, TerminalRelay } from "../nodes/terminals/relay.ts";
import { relayConnect, relayRunTasks, relaySendLogs, relayServeTerminal } from "./agents.ts";
import type { LeaderConnection } from "./leader-connection.ts";
import { createWaitingRoom } from "./waiting-room.ts";

export interface AgentServiceParts {
  readonly context: ConnectContext;
  readonly leader: Leader;
  readonly connection: LeaderConnection;
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
  connection,
  logs,
  terminals,
  launches,
  ...parts
}: AgentServiceParts): GrpcService {
  const leads = () => leader.sequencer() !== null;
  const room = createWaitingRoom({ clock: context.clock, open: () => leads() || leaderAnswers(connection) });

  function serve(call: ConnectStream): void {
    const peer = leads() ? null : connection.client();
    if (leads()) handleConnect(context, call);
    else if (peer === null) refuseAgent(call);
    else relayConnect(peer, call);
  }

  /** The stream is not read until it is served, so its hello is not lost. */
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
        if (leads() || leaderAnswers(connection)) serve(call);
        else keepWaiting(call);
      },
      sendLogs(
        call: ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>,
        reply: sendUnaryData<pb.SendLogsResponse>,
      ) {
        const peer = leads() ? null : connection.client();
        if (peer === null) return logs.receive(call, reply, (node) => context.refusal(call, node));
        relaySendLogs(peer, call, reply);
      },
      serveTerminal(call: ServeTerminalCall) {
        const peer = leads() ? null : connection.client();
        if (peer === null) terminals.receive(call, (node) => context.refusal(call, node));
        else relayServeTerminal(peer, call);
      },
      runTasks(call: RunTasksCall) {
        const peer = leads() ? null : connection.client();
        if (leads()) launches.receive(call, (node) => context.refusal(call, node));
        else if (peer !== null) relayRunTasks(peer, call);
        else call.emit("error", { code: status.UNAVAILABLE, details: "no server leads at the moment" });
      },
      // Any server with the authority's key answers, leader or not, since certificates are not in the log.
      renewCertificate: parts.renew,
      issueCertificate: parts.issueFirst,
    },
  };
}

/** A dead leader keeps its name until its lease ends; relaying agents to it would only disconnect them. */
function leaderAnswers(connection: LeaderConnection): boolean {
  const channel = connection.client()?.channel.getChannel();
  return channel?.getConnectivityState(true) === connectivityState.READY;
}

/** Makes the agent try the next server, or this one later. */
export function refuseAgent(call: Pick<ConnectCall, "write" | "end">): void {
  const refused = create(pb.RefusedSchema, { code: "not_leader", detail: "no server leads at the moment" });
  call.write(create(pb.ServerMessageSchema, { message: { case: "refused", value: refused } }));
  call.end();
}
