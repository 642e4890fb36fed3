// Relays the streams of an agent from a follower to the leader, message by message, so that an agent may connect to any
// server. When the leader changes, the stream ends and the agent reconnects.

import { create, type Message } from "@bufbuild/protobuf";
import {
  type ClientDuplexStream,
  type ClientWritableStream,
  Metadata,
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { pb, type ShownCertificate, serviceDefinition } from "@lattice/wire";
import { AGENT_ADDRESS_HEADER, VOUCHED_HEADER } from "../base/auth/peer-headers.ts";
import { type CertifiedCall, certificateOf } from "../base/tls/shown.ts";
import { connectionAddress } from "../nodes/agents/agent-address.ts";
import type { PeerClient } from "./client.ts";

const METHODS = serviceDefinition(pb.AgentService);

export const relayConnect = (peer: PeerClient, call: ServerDuplexStream<pb.AgentMessage, pb.ServerMessage>): void =>
  relayBothWays(peer, "Connect", call);

export const relayServeTerminal = (
  peer: PeerClient,
  call: ServerDuplexStream<pb.ServeTerminalRequest, pb.ServeTerminalResponse>,
): void => relayBothWays(peer, "ServeTerminal", call);

/** Relays the tasks of one launch. The agent needs the error with which the leader ends it. */
export const relayRunTasks = (peer: PeerClient, call: ServerDuplexStream<pb.TasksReport, pb.TasksOrder>): void =>
  relayBothWays(peer, "RunTasks", call, (error) => call.emit("error", error));

function relayBothWays<Up extends Message, Down extends Message>(
  peer: PeerClient,
  name: "Connect" | "ServeTerminal" | "RunTasks",
  call: ServerDuplexStream<Up, Down>,
  onError: (error: Error) => void = () => undefined,
): void {
  const { path, requestSerialize, responseDeserialize } = methodOf(name);
  const onward = peer.channel.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    identityOf(peer, call),
  ) as unknown as ClientDuplexStream<Up, Down>;
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    forget();
    onward.cancel();
    call.end();
  };
  const forget = peer.track(end);
  call.on("data", (message: Up) => {
    if (!onward.write(message)) pause(call, onward);
  });
  call.on("end", () => onward.end());
  call.on("cancelled", end);
  call.on("error", end);
  onward.on("data", (message: Down) => {
    if (!over && !call.write(message)) pause(onward, call);
  });
  onward.on("end", end);
  onward.on("error", (error) => {
    if (!over) onError(error);
    end();
  });
}

export function relaySendLogs(
  peer: PeerClient,
  call: ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>,
  reply: sendUnaryData<pb.SendLogsResponse>,
): void {
  const { path, requestSerialize, responseDeserialize } = methodOf("SendLogs");
  let answered = false;
  const finish = () => {
    if (answered) return;
    answered = true;
    reply(null, create(pb.SendLogsResponseSchema, {}));
  };
  const onward = peer.channel.makeClientStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    identityOf(peer, call),
    finish,
  ) as unknown as ClientWritableStream<pb.AgentLogChunk>;
  onward.on("error", finish);
  call.on("data", (chunk: pb.AgentLogChunk) => {
    if (!onward.write(chunk)) pause(call, onward);
  });
  call.on("end", () => onward.end());
  call.on("cancelled", () => onward.cancel());
  call.on("error", () => onward.cancel());
}

/** The leader verifies the agent's token itself, and trusts this server for its address and the identity in its certificate. */
function identityOf(
  peer: PeerClient,
  call: CertifiedCall & { readonly metadata: Metadata; getPeer?(): string },
): Metadata {
  const identity = new Metadata();
  for (const value of call.metadata.get("authorization")) identity.set("authorization", value);
  identity.merge(peer.proof);
  identity.set(AGENT_ADDRESS_HEADER, connectionAddress(call));
  const certificate = certificateOf(call);
  if (certificate === null) return identity;
  const { subject, subjectaltname } = certificate;
  const shown: ShownCertificate = { subject: { CN: subject.CN, OU: subject.OU }, subjectaltname };
  identity.set(VOUCHED_HEADER, encodeURIComponent(JSON.stringify(shown)));
  return identity;
}

/** A slow leader slows down the agent, so that nothing is buffered here. */
function pause(
  source: { pause(): unknown; resume(): unknown },
  sink: NodeJS.WritableStream | ClientWritableStream<never> | object,
): void {
  source.pause();
  (sink as NodeJS.EventEmitter).once("drain", () => source.resume());
}

function methodOf(name: "Connect" | "SendLogs" | "ServeTerminal" | "RunTasks") {
  const method = METHODS[name];
  if (method === undefined) throw new Error(`AgentService has no ${name}`);
  return method;
}
