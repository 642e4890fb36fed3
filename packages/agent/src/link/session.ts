// One Connect stream from its Hello to its end. It checks the welcome and passes orders on; it does not interpret
// orders and never reconnects.

import { create } from "@bufbuild/protobuf";
import type { Client, ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { agreeOnProtocol, LOG_START, type LogPosition, PROTOCOL } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { After } from "../base/after.ts";
import { connectCall } from "./service.ts";

export type SessionEnd =
  | { readonly kind: "refused"; readonly code: string; readonly detail: string }
  | {
      readonly kind: "lost";
      readonly detail: string;
      readonly welcomed: boolean;
      /** The server did not end the stream itself: it is dead, paused or not reachable. */
      readonly silent: boolean;
    };

export interface ServerSession {
  send(message: pb.AgentMessage["message"]): void;
  close(): void;
}

interface Refusal {
  readonly code: string;
  readonly detail: string;
}

interface SessionHandler {
  /** Returns why this agent must not serve the cluster, or null. Asked before `welcomed`. */
  objection(welcome: pb.Welcome): SessionEnd | null;
  /** Judges every message before it takes effect. */
  judge(message: pb.ServerMessage): Refusal | null;
  /** Stores the cluster of a welcome to which there is no objection, before `welcomed`. */
  adopt(welcome: pb.Welcome, log: LogPosition): Refusal | null;
  welcomed(welcome: pb.Welcome): void;
  order(message: pb.ServerMessage["message"]): void;
  /** Called once, last. */
  ended(end: SessionEnd): void;
}

const FLUSH_MS = 200;

interface SessionWay {
  readonly client: Client;
  readonly after: After;
  /** Time limit of the welcome. */
  readonly welcomeMs: number;
}

export function openSession(
  { client, after, welcomeMs }: SessionWay,
  hello: pb.Hello,
  handler: SessionHandler,
): ServerSession {
  const { path, serialize, deserialize } = connectCall;
  const call: ClientDuplexStream<pb.AgentMessage, pb.ServerMessage> = client.makeBidiStreamRequest(
    path,
    serialize,
    deserialize,
  );
  let over = false;
  let welcomed = false;
  const cancelDeadline = after(welcomeMs, () =>
    finish({ kind: "lost", detail: "no welcome in time", welcomed, silent: true }),
  );

  function finish(end: SessionEnd): void {
    if (over) return;
    over = true;
    cancelDeadline();
    // Half-closed first, so that pending writes such as a last report still go out.
    call.end();
    after(FLUSH_MS, () => call.cancel());
    handler.ended(end);
  }

  function send(message: pb.AgentMessage["message"]): void {
    if (!over) call.write(create(pb.AgentMessageSchema, { message }));
  }

  call.on("data", (received: pb.ServerMessage) => {
    const { message, log = LOG_START } = received;
    if (over) return;
    if (message.case === "refused") return finish({ kind: "refused", ...message.value });
    const refusal = handler.judge(received);
    if (refusal !== null) return finish({ kind: "refused", ...refusal });
    if (message.case !== "welcome") return handler.order(message);
    const unfit = protocolMismatch(message.value.protocolVersion) ?? handler.objection(message.value);
    if (unfit !== null) return finish(unfit);
    const unstored = handler.adopt(message.value, log);
    if (unstored !== null) return finish({ kind: "refused", ...unstored });
    cancelDeadline();
    welcomed = true;
    handler.welcomed(message.value);
  });
  call.on("error", (error: ServiceError) => {
    finish({ kind: "lost", detail: `${status[error.code] ?? error.code}: ${error.details}`, welcomed, silent: true });
  });
  call.on("end", () => finish({ kind: "lost", detail: "closed by the server", welcomed, silent: false }));

  send({ case: "hello", value: hello });
  return { send, close: () => finish({ kind: "lost", detail: "closed by the agent", welcomed, silent: false }) };
}

/** The server's welcome has the newest common version. Returns null when this agent supports it. */
function protocolMismatch(version: number): SessionEnd | null {
  const agreement = agreeOnProtocol(PROTOCOL, { oldest: version, newest: version });
  if (agreement.kind === "agreed") return null;
  const upgrade = agreement.theirs === "too_old" ? "the servers" : "this agent";
  const detail = `agent and server share no version of their protocol (${agreement.ranges}): upgrade ${upgrade}`;
  return { kind: "refused", code: `server_protocol_${agreement.theirs}`, detail };
}
