// Keeps one Connect stream open for one node: tries the servers in turn with jittered delays, and sends heartbeats
// while connected. Messages can be lost with the stream; reports that must not be lost are in the report buffer, whose
// owner sends them again after each welcome.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { LOG_START } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { type After, systemAfter } from "../base/after.ts";
import { type Backoff, backoff, isOwn, isTransient, RECONNECT, REFUSED, spreadOf, UNFIT_CLUSTER } from "./backoff.ts";
import type { Dialer } from "./dial.ts";
import type { HeartbeatTimer } from "./heartbeat-timer.ts";
import { type KnownCluster, knownCluster } from "./known-cluster.ts";
import { type ConnectionEnd, type ServerChoice, serverChoice } from "./server-choice.ts";
import { openSession, type ServerSession, type SessionEnd } from "./session.ts";

interface LinkOptions {
  readonly dialer: Dialer;
  /** Index of this node in the process; selects the channel. */
  readonly member: number;
  readonly heartbeatTimer: HeartbeatTimer;
  readonly random: () => number;
  /** The platform's timers unless stated. */
  readonly after?: After;
  readonly log: Logger;
  hello(): pb.Hello;
  heartbeat(sequence: number): Omit<MessageInitShape<typeof pb.HeartbeatSchema>, "$typeName" | "sequence">;
  /** Returns why this agent must not serve the cluster of a server that welcomes it, or null. Default: it serves any. */
  readonly objection?: (welcome: pb.Welcome) => string | null;
  /** Default: a node that stores nothing. */
  readonly cluster?: KnownCluster;
  /** `client` is the channel to the server that welcomes. */
  welcomed(client: Client, welcome: pb.Welcome): void;
  /** A connection was refused, by the server or by this agent. */
  readonly refused?: (code: string) => void;
  /** A message other than the welcome; `client` is its channel. */
  order(message: pb.ServerMessage["message"], client: Client): void;
}

export interface Link {
  /** Silently dropped when not connected. */
  send(message: pb.AgentMessage["message"]): void;
  connected(): boolean;
  /** The agreed protocol version; `null` while not connected. */
  protocol(): number | null;
  /** Returns how often the node has sent a Hello to any server. */
  hellos(): number;
  close(): void;
}

const MIN_HEARTBEAT_MS = 50;

export const openLink = (options: LinkOptions): Link => new NodeLink(options);

/** After this time a stream has worked. */
const PROVEN_MS = 5_000;

const NOTHING = (): void => undefined;

class NodeLink implements Link {
  readonly #options: LinkOptions;
  readonly #after: After;
  readonly #cluster: KnownCluster;
  readonly #afterLoss: Backoff;
  readonly #afterRefusal: Backoff;
  #session: ServerSession | null = null;
  #live = false;
  #closed = false;
  readonly #choice: ServerChoice;
  #spreadMs = 0;
  #cancelTry: () => void;
  #stopHeartbeats: () => void = NOTHING;
  #isProven = false;
  #cancelProof: () => void = NOTHING;
  #sequence = 0;
  #failures = 0;
  #hellos = 0;
  #protocol = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#after = options.after ?? systemAfter;
    this.#cluster = options.cluster ?? knownCluster(null, this.#after);
    this.#afterLoss = backoff(RECONNECT, options.random);
    this.#afterRefusal = backoff(REFUSED, options.random);
    this.#choice = serverChoice(options.dialer.servers, options.random);
    this.#cancelTry = this.#after(0, () => this.#connect());
  }

  send(message: pb.AgentMessage["message"]): void {
    this.#session?.send(message);
  }

  connected(): boolean {
    return this.#live;
  }

  protocol(): number | null {
    return this.#live ? this.#protocol : null;
  }

  hellos(): number {
    return this.#hellos;
  }

  close(): void {
    this.#closed = true;
    this.#cancelTry();
    this.#cancelProof();
    this.#session?.close();
    this.#cluster.close();
  }

  #connect(): void {
    this.#options.dialer.greeting.enter((leave) => (this.#closed ? leave() : this.#greet(leave)));
  }

  #greet(leave: () => void): void {
    const { dialer, member } = this.#options;
    const server = this.#choice.current();
    const client = dialer.client(server, member);
    this.#hellos += 1;
    const hello = this.#hello();
    this.#session = openSession({ client, after: this.#after, welcomeMs: this.#choice.patienceMs() }, hello, {
      judge: ({ message, log = LOG_START }) => {
        if (message.case === "welcome") return this.#cluster.judge(message.value, log);
        return this.#cluster.heard(log, isActedOn(message.case));
      },
      adopt: (welcome, log) => this.#cluster.adopt(welcome, log),
      objection: (welcome) => objectionOf(this.#options.objection?.(welcome) ?? null),
      welcomed: (welcome) => {
        leave();
        this.#onWelcome(welcome, server);
      },
      order: (message) => {
        if (message.case === "stop" || message.case === "forget") this.#logEnd(message.value, server);
        this.#options.order(message, client);
      },
      ended: (end) => {
        leave();
        this.#onEnd(end, server);
      },
    });
  }

  #hello(): pb.Hello {
    const { knownLog, ...identity } = this.#cluster.facts();
    return { ...this.#options.hello(), ...identity, knownLog: create(pb.LogPositionSchema, knownLog) };
  }

  #onWelcome(welcome: pb.Welcome, server: string): void {
    const { log, heartbeatTimer, dialer, member } = this.#options;
    log.info({ server, version: welcome.serverVersion, protocol: welcome.protocolVersion }, "connected to a server");
    this.#protocol = welcome.protocolVersion;
    this.#live = true;
    this.#choice.welcomed();
    this.#cancelProof = this.#after(PROVEN_MS, () => {
      this.#isProven = true;
    });
    this.#sequence = 0;
    this.#failures = 0;
    this.#spreadMs = spreadOf(welcome.heartbeatIntervalMs);
    this.#afterLoss.reset();
    this.#afterRefusal.reset();
    this.#stopHeartbeats();
    const everyMs = Math.max(MIN_HEARTBEAT_MS, welcome.heartbeatIntervalMs);
    this.#stopHeartbeats = heartbeatTimer.join(everyMs, () => this.#sendHeartbeat());
    this.#sendHeartbeat();
    this.#options.welcomed(dialer.client(server, member), welcome);
  }

  /** An operator must be able to find which order of which server ended an attempt. */
  #logEnd(order: pb.StopOrder | pb.ForgetOrder, server: string): void {
    const { clusterId, knownLog } = this.#cluster.facts();
    const attempt = `${order.allocationId}.${order.attempt}`;
    const facts = { attempt, server, cluster: clusterId, log_index: knownLog.index };
    if (order.$typeName === "lattice.v1.StopOrder")
      this.#options.log.info({ ...facts, reason: order.reason }, "a server orders the end of an attempt");
    else this.#options.log.info(facts, "a server has recorded the end of an attempt");
  }

  #sendHeartbeat(): void {
    this.#sequence += 1;
    const sequence = this.#sequence;
    const value = create(pb.HeartbeatSchema, { sequence, ...this.#options.heartbeat(sequence) });
    this.#session?.send({ case: "heartbeat", value });
  }

  #onEnd(end: SessionEnd, server: string): void {
    this.#stopHeartbeats();
    this.#stopHeartbeats = NOTHING;
    this.#live = false;
    this.#session = null;
    if (this.#closed) return;
    this.#cancelProof();
    this.#choice.ended(howEnded(end, this.#isProven));
    this.#isProven = false;
    if (end.kind === "refused") this.#options.refused?.(end.code);
    const refused = end.kind === "refused" && !isTransient(end.code);
    const waitMs = refused ? this.#afterRefusal.next() : (this.#firstWait() ?? this.#afterLoss.next());
    this.#explain(end, server, Math.round(waitMs));
    this.#cancelTry = this.#after(waitMs, () => this.#connect());
  }

  /** Returns the wait after the loss of a working stream: all agents of that server lost theirs at the same moment. */
  #firstWait(): number | null {
    if (this.#spreadMs === 0) return null;
    const wait = this.#options.random() * this.#spreadMs;
    this.#spreadMs = 0;
    return wait;
  }

  /** Logs the first failure as a warning and repeated ones at debug level. */
  #explain(end: SessionEnd, server: string, waitMs: number): void {
    const { log } = this.#options;
    const first = this.#failures === 0;
    if (end.kind === "lost" && end.welcomed) {
      log.warn({ server, detail: end.detail }, "connection to the server lost");
      return;
    }
    this.#failures += 1;
    if (end.kind === "lost") {
      log[first ? "warn" : "debug"]({ server, detail: end.detail }, "cannot connect to the server; retrying");
      return;
    }
    const facts = { server, code: end.code, detail: end.detail, wait_ms: waitMs };
    if (isTransient(end.code)) log[first ? "warn" : "info"](facts, "the server cannot serve now; retrying");
    else if (isOwn(end.code)) log.error(facts, "this agent cannot work with the server");
    else log.error(facts, "the server refuses this agent");
  }
}

function howEnded(end: SessionEnd, isProven: boolean): ConnectionEnd {
  if (end.kind === "lost" && end.silent) return "silent";
  return end.kind === "lost" && isProven ? "closed" : "refused";
}

/** The node starts, ends or forgets work because of these messages. */
const isActedOn = (message: pb.ServerMessage["message"]["case"]): boolean =>
  message === "run" || message === "stop" || message === "forget" || message === "ack";

const objectionOf = (detail: string | null): SessionEnd | null =>
  detail === null ? null : { kind: "refused", code: UNFIT_CLUSTER, detail };
