// Keeps one Connect stream open for one node: tries the servers in turn, waits between tries with
// jitter, beats while connected. Everything said here can be lost with the stream; what must not
// be lost is in the report buffer, whose owner sends it again after each welcome.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { type After, systemAfter } from "../after.ts";
import { backoff, isOwn, isTransient, RECONNECT, REFUSED, spreadOf } from "./backoff.ts";
import type { Dialer } from "./dial.ts";
import { openSession, type Session, type SessionEnd } from "./session.ts";
import type { Wheel } from "./wheel.ts";

export interface LinkOptions {
  readonly dialer: Dialer;
  /** Which of the process's nodes this is; chooses the channel. */
  readonly member: number;
  readonly wheel: Wheel;
  readonly random: () => number;
  /** The platform's timers unless stated. */
  readonly after?: After;
  readonly log: Logger;
  hello(): pb.Hello;
  heartbeat(sequence: number): Omit<MessageInitShape<typeof pb.HeartbeatSchema>, "$typeName" | "sequence">;
  /** `client` is the channel to the server that welcomes. */
  welcomed(client: Client, welcome: pb.Welcome): void;
  /** An order other than the greeting; `client` is the channel it came by. */
  order(message: pb.ServerMessage["message"], client: Client): void;
}

export interface Link {
  /** Lost without a trace when not connected. */
  send(message: pb.AgentMessage["message"]): void;
  connected(): boolean;
  /** The version of the protocol that was agreed on with the server; null: not connected. */
  protocol(): number | null;
  /** How often it has said hello, to whatever server. */
  hellos(): number;
  close(): void;
}

const MIN_HEARTBEAT_MS = 50;

export function openLink(options: LinkOptions): Link {
  const { dialer, log, random, after = systemAfter } = options;
  const afterLoss = backoff(RECONNECT, random);
  const afterRefusal = backoff(REFUSED, random);
  let session: Session | null = null;
  let live = false;
  let closed = false;
  /** Agents know the servers in the same order, and must not all begin with the same one. */
  let turn = Math.floor(random() * dialer.servers.length);
  let spreadMs = 0;
  let cancelTry: () => void = () => undefined;
  let leaveWheel: () => void = () => undefined;
  let sequence = 0;
  let failures = 0;
  let hellos = 0;
  let protocol = 0;

  function connect(): void {
    dialer.greeting.enter((leave) => (closed ? leave() : greet(leave)));
  }

  function greet(leave: () => void): void {
    const server = dialer.servers[turn % dialer.servers.length] ?? "";
    const client = dialer.client(server, options.member);
    hellos += 1;
    session = openSession({ client, after }, options.hello(), {
      welcomed(welcome) {
        leave();
        welcomed(welcome, server);
      },
      order: (message) => options.order(message, client),
      ended(end) {
        leave();
        ended(end, server);
      },
    });
  }

  function welcomed(welcome: pb.Welcome, server: string): void {
    log.info({ server, version: welcome.serverVersion, protocol: welcome.protocolVersion }, "connected");
    protocol = welcome.protocolVersion;
    live = true;
    sequence = 0;
    failures = 0;
    spreadMs = spreadOf(welcome.heartbeatIntervalMs);
    afterLoss.reset();
    afterRefusal.reset();
    leaveWheel();
    leaveWheel = options.wheel.join(Math.max(MIN_HEARTBEAT_MS, welcome.heartbeatIntervalMs), beat);
    beat();
    options.welcomed(dialer.client(server, options.member), welcome);
  }

  function beat(): void {
    sequence += 1;
    const value = create(pb.HeartbeatSchema, { sequence, ...options.heartbeat(sequence) });
    session?.send({ case: "heartbeat", value });
  }

  function ended(end: SessionEnd, server: string): void {
    leaveWheel();
    leaveWheel = () => undefined;
    live = false;
    session = null;
    if (closed) return;
    // Any of the others: the agents of a server that died do not all go to the one after it.
    turn += 1 + Math.floor(random() * (dialer.servers.length - 1));
    const refused = end.kind === "refused" && !isTransient(end.code);
    const wait = refused ? afterRefusal.next() : (firstOfAll() ?? afterLoss.next());
    explain(end, server, Math.round(wait));
    cancelTry = after(wait, connect);
  }

  /** The first try after a stream that worked: all agents of that server lost theirs at this moment. */
  function firstOfAll(): number | null {
    if (spreadMs === 0) return null;
    const wait = random() * spreadMs;
    spreadMs = 0;
    return wait;
  }

  function explain(end: SessionEnd, server: string, waitMs: number): void {
    // Said aloud once for each time it is cut off, not at every try.
    const first = failures === 0;
    if (end.kind === "lost" && end.welcomed) {
      log.warn({ server, detail: end.detail }, "connection lost");
      return;
    }
    failures += 1;
    if (end.kind === "lost") {
      log[first ? "warn" : "debug"]({ server, detail: end.detail }, "cannot connect; trying again");
      return;
    }
    const facts = { server, code: end.code, detail: end.detail, wait_ms: waitMs };
    if (isTransient(end.code)) log[first ? "warn" : "info"](facts, "the server cannot serve now; trying again");
    else if (isOwn(end.code)) log.error(facts, "this agent cannot work with the server");
    else log.error(facts, "the server refuses this agent");
  }

  cancelTry = after(0, connect);
  return {
    send: (message) => session?.send(message),
    connected: () => live,
    protocol: () => (live ? protocol : null),
    hellos: () => hellos,
    close() {
      closed = true;
      cancelTry();
      session?.close();
    },
  };
}
