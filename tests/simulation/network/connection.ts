// One stream between an agent and a server, as TCP carries it: each direction keeps its order, a cut connection delays
// messages until it heals, and either end may learn of a break late or never. Messages of an old stream can arrive
// after those of a newer one. Beyond TCP, a report or an order may be duplicated, and a run or stop order may be lost.

import type { pb } from "@lattice/wire";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

type Listener = (value?: unknown) => void;

/** The interface of a gRPC stream, on either side. */
export interface StreamEnd {
  write(message: unknown): boolean;
  end(): void;
  cancel(): void;
  on(event: string, listener: Listener): StreamEnd;
}

export type Message = { readonly kind: "data"; readonly message: unknown } | { readonly kind: "end" | "reset" };

export interface Connection {
  readonly client: StreamEnd;
  readonly server: StreamEnd;
  readonly node: string;
  readonly to: string;
  /** The server accepted the stream: queued messages are sent now. */
  establish(serverHost: Host): void;
  established(): boolean;
  clientLeft(): boolean;
  /** One end learns that the stream is closed. */
  breakFor(side: "client" | "server"): void;
  /** The process on that side is dead: it neither sends nor receives. */
  silence(side: "client" | "server"): void;
  /** The connection is restored: held messages are delivered. */
  flush(): void;
  over(): boolean;
  /** Both ends receive each other's messages without delay. */
  whole(): boolean;
}

export interface ConnectionParts {
  readonly world: World;
  readonly random: Random;
  readonly messageFaults: MessageFaults;
  readonly node: string;
  readonly to: string;
  readonly clientHost: Host;
  readonly blocked: () => boolean;
  /** A server accepted another stream of this node since. */
  readonly superseded: () => boolean;
  readonly onClosed: () => void;
}

interface Side {
  readonly listeners: Map<string, Listener[]>;
  host: Host | null;
  /** It has received the last message of this stream. */
  deaf: boolean;
  /** It sends no more messages. */
  mute: boolean;
  /** The next message for it may not arrive before this. */
  lastAt: number;
  /** Extra delay of messages in flight to it. */
  lagMs: number;
  held: Message[];
}

/** A duplicate arrives within this after the original. */
const TWICE_WITHIN_MS = 3_000;
/** How long a stream that its agent gave up keeps delivering. */
const OUTLIVED_MS: readonly [number, number] = [2_000, 15_000];
/** Stops without a claim, which are never repeated. */
const SAID_ONCE: readonly string[] = ["this attempt no longer belongs to this node", "node_failure"];

type Subject = "report" | "order" | "standing_order" | "other";

/** Messages that single-message faults apply to. */
function subjectOf(toServer: boolean, message: unknown): Subject {
  if (toServer) return (message as pb.AgentMessage).message.case === "report" ? "report" : "other";
  const body = (message as pb.ServerMessage).message;
  if (body.case === "run") return "standing_order";
  if (body.case === "stop") return SAID_ONCE.includes(body.value.reason) ? "order" : "standing_order";
  return body.case === "forget" || body.case === "checkpoint" || body.case === "ack" ? "order" : "other";
}

const newSide = (host: Host | null): Side => ({
  listeners: new Map(),
  host,
  deaf: false,
  mute: false,
  lastAt: 0,
  lagMs: 0,
  held: [],
});

export function createConnection(parts: ConnectionParts): Connection {
  const { world, random, messageFaults } = parts;
  const client = newSide(parts.clientHost);
  const server = newSide(null);
  let established = false;
  let closed = false;

  function send(from: Side, to: Side, sent: Message): void {
    if (from.mute) return;
    if (sent.kind !== "data") from.mute = true;
    if (!established) to.held.push(sent);
    else dispatch(to, sent);
    if (sent.kind !== "data") settle();
  }

  function dispatch(to: Side, sent: Message): void {
    const what = sent.kind === "data" ? subjectOf(to === server, sent.message) : "other";
    if (what === "standing_order" && messageFaults.strikes("order_lost")) return;
    if (what === "report" && messageFaults.strikes("stream_outlived")) giveUp();
    const slow = random.chance(0.02) ? random.between(50, 1_500) : 0;
    const at = Math.max(to.lastAt, world.now() + random.between(1, 12) + slow + to.lagMs);
    to.lastAt = at;
    world.after(at - world.now(), () => arrive(to, sent));
    if (what === "other" || !messageFaults.strikes(what === "report" ? "report_repeated" : "order_repeated")) return;
    // After all messages sent since.
    world.after(at - world.now() + random.between(0, TWICE_WITHIN_MS), () => arrive(to, sent));
  }

  /** The agent learns at once that the stream is closed; its messages in flight arrive much later. */
  function giveUp(): void {
    server.lagMs = random.between(...OUTLIVED_MS);
    world.after(random.between(20, 400), () => breakFor(client));
  }

  function arrive(to: Side, sent: Message): void {
    if (to.deaf) return;
    // Queued behind held messages, to keep the order.
    if (parts.blocked() || to.held.length > 0) to.held.push(sent);
    else to.host?.deliver(() => hear(to, sent));
  }

  function hear(to: Side, sent: Message): void {
    if (to.deaf) return;
    if (sent.kind === "data") {
      if (to === server && parts.superseded()) messageFaults.met("old_stream_heard");
      emit(to, "data", sent.message);
      return;
    }
    to.deaf = true;
    if (sent.kind === "end") emit(to, "end");
    else tellBroken(to);
    settle();
  }

  function tellBroken(to: Side): void {
    to.mute = true;
    if (to === client) emit(to, "error", { code: 14, details: "the connection is gone" });
    else emit(to, "cancelled");
  }

  function emit(to: Side, event: string, value?: unknown): void {
    for (const listener of to.listeners.get(event) ?? []) listener(value);
  }

  function settle(): void {
    const gone = (side: Side, other: Side): boolean =>
      side.deaf || side.host?.alive() === false || (side.mute && other.deaf);
    if (closed || !gone(client, server) || !gone(server, client)) return;
    closed = true;
    parts.onClosed();
  }

  const endOf = (mine: Side, other: Side): StreamEnd => {
    const end: StreamEnd = {
      write(message) {
        send(mine, other, { kind: "data", message });
        return true;
      },
      end: () => send(mine, other, { kind: "end" }),
      cancel() {
        mine.mute = false;
        send(mine, other, { kind: "reset" });
        mine.deaf = true;
        settle();
      },
      on(event, listener) {
        mine.listeners.set(event, [...(mine.listeners.get(event) ?? []), listener]);
        return end;
      },
    };
    return end;
  };
  const sideOf = (name: "client" | "server"): Side => (name === "client" ? client : server);

  function breakFor(side: Side): void {
    side.host?.deliver(() => {
      if (side.deaf) return;
      side.deaf = true;
      tellBroken(side);
      settle();
    });
  }

  function flush(): void {
    if (!established || parts.blocked()) return;
    for (const side of [client, server]) {
      const held = side.held;
      side.held = [];
      for (const sent of held) dispatch(side, sent);
    }
  }

  return {
    client: endOf(client, server),
    server: endOf(server, client),
    node: parts.node,
    to: parts.to,
    establish(serverHost) {
      server.host = serverHost;
      established = true;
      flush();
    },
    established: () => established,
    clientLeft: () => client.deaf,
    breakFor: (name) => breakFor(sideOf(name)),
    silence(name) {
      const side = sideOf(name);
      side.mute = true;
      side.deaf = true;
      settle();
    },
    flush,
    over: () => closed,
    whole: () => !client.deaf && !server.deaf && !client.mute && !server.mute && server.lagMs === 0,
  };
}
