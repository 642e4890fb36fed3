// The agents' service on this server: served here while this server leads, passed on to the leader
// otherwise. An agent need not know who leads; it dials any server.

import { create } from "@bufbuild/protobuf";
import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import type { GrpcService } from "../api/index.ts";
import type { Leader } from "../leader/lead.ts";
import { relayConnect, relaySendLogs } from "../peers/agents.ts";
import type { LeaderLine } from "../peers/line.ts";
import { type ConnectCall, type ConnectContext, handleConnect } from "./connect.ts";
import type { LogRelay } from "./logs.ts";

export interface AgentServiceParts {
  readonly context: ConnectContext;
  readonly leader: Leader;
  readonly line: LeaderLine;
  readonly logs: LogRelay;
}

export function agentService({ context, leader, line, logs }: AgentServiceParts): GrpcService {
  const leads = () => leader.sequencer() !== null;
  return {
    definition: serviceDefinition(pb.AgentService),
    implementation: {
      connect(call: ServerDuplexStream<pb.AgentMessage, pb.ServerMessage>) {
        if (leads()) return handleConnect(context, call);
        const peer = line.client();
        if (peer === null) return refuseAgent(call);
        relayConnect(peer, call);
      },
      sendLogs(
        call: ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>,
        reply: sendUnaryData<pb.SendLogsResponse>,
      ) {
        const peer = leads() ? null : line.client();
        if (peer === null) return logs.receive(call, reply);
        relaySendLogs(peer.channel, call, reply);
      },
    },
  };
}

/** The agent tries the next server, or this one a little later. */
export function refuseAgent(call: Pick<ConnectCall, "write" | "end">): void {
  const refused = create(pb.RefusedSchema, { code: "not_leader", detail: "no server leads at the moment" });
  call.write(create(pb.ServerMessageSchema, { message: { case: "refused", value: refused } }));
  call.end();
}
