// One stream between an agent and a server, as TCP would carry it: each direction keeps its order, a
// cut wire holds what is under way back until it heals, and either end may learn of a break late or
// never. An old stream's messages can therefore come after a newer stream's. Beyond what TCP does, a report or an
// order may come a second time, and a run or stop order may be lost on the way.

import type { pb } from "@lattice/wire";
import type { Odds } from "../faults/odds.ts";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

type Listener = (value?: unknown) => void;

/** What gRPC gives for a stream, on either side. */
export interface StreamEnd {
  write(message: unknown): boolean;
  end(): void;
  cancel(): void;
  on(event: string, listener: Listener): StreamEnd;
}

export type Parcel = { readonly kind: "data"; readonly message: unknown } | { readonly kind: "end" | "reset" };

export interface Connection {
  readonly client: StreamEnd;
  readonly server: StreamEnd;
  readonly node: string;
  readonly to: string;
  /** The server took it: what was said before goes out now. */
  establish(serverHost: Host): void;
  established(): boolean;
  clientLeft(): boolean;
  /** One end learns that the stream is gone. */
  breakFor(side: "client" | "server"): void;
  /** The process of that side is gone: it says no more and hears no more. */
  silence(side: "client" | "server"): void;
  /** The wire is whole again: what was held goes on. */
  flush(): void;
  over(): boolean;
  /** Both ends hear each other, and soon. */
  whole(): boolean;
}

export interface ConnectionParts {
  readonly world: World;
  readonly random: Random;
  readonly odds: Odds;
  readonly node: string;
  readonly to: string;
  readonly clientHost: Host;
  readonly blocked: () => boolean;
  /** Another stream of this node was taken by a server since. */
  readonly superseded: () => boolean;
  readonly onClosed: () => void;
}

interface Side {
  readonly listeners: Map<string, Listener[]>;
  host: Host | null;
  /** It has heard the last of this stream. */
  deaf: boolean;
  /** It says no more. */
  mute: boolean;
  /** Not before this may the next parcel for it arrive. */
  lastAt: number;
  /** What is on its way to it takes so much longer. */
  lagMs: number;
  held: Parcel[];
}

/** A second copy comes within this after the first. */
const TWICE_WITHIN_MS = 3_000;
/** How long a stream that its agent gave up goes on delivering. */
const OUTLIVED_MS: readonly [number, number] = [2_000, 15_000];
/** Stops that follow from no claim: nobody says them again. */
const SAID_ONCE: readonly string[] = ["this attempt no longer belongs to this node", "node_failure"];

type Subject = "report" | "order" | "standing_order" | "other";

/** What the faults of single messages can happen to. */
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
  const { world, random, odds } = parts;
  const client = newSide(parts.clientHost);
  const server = newSide(null);
  let established = false;
  let closed = false;

  function send(from: Side, to: Side, parcel: Parcel): void {
    if (from.mute) return;
    if (parcel.kind !== "data") from.mute = true;
    if (!established) to.held.push(parcel);
    else dispatch(to, parcel);
    if (parcel.kind !== "data") settle();
  }

  function dispatch(to: Side, parcel: Parcel): void {
    const what = parcel.kind === "data" ? subjectOf(to === server, parcel.message) : "other";
    if (what === "standing_order" && odds.strikes("order_lost")) return;
    if (what === "report" && odds.strikes("stream_outlived")) giveUp();
    const slow = random.chance(0.02) ? random.between(50, 1_500) : 0;
    const at = Math.max(to.lastAt, world.now() + random.between(1, 12) + slow + to.lagMs);
    to.lastAt = at;
    world.after(at - world.now(), () => arrive(to, parcel));
    if (what === "other" || !odds.strikes(what === "report" ? "report_repeated" : "order_repeated")) return;
    // Behind whatever was said since.
    world.after(at - world.now() + random.between(0, TWICE_WITHIN_MS), () => arrive(to, parcel));
  }

  /** The agent learns at once that the stream is gone; what is under way on it comes much later. */
  function giveUp(): void {
    server.lagMs = random.between(...OUTLIVED_MS);
    world.after(random.between(20, 400), () => breakFor(client));
  }

  function arrive(to: Side, parcel: Parcel): void {
    if (to.deaf) return;
    // Behind what is held already, or it would overtake.
    if (parts.blocked() || to.held.length > 0) to.held.push(parcel);
    else to.host?.deliver(() => hear(to, parcel));
  }

  function hear(to: Side, parcel: Parcel): void {
    if (to.deaf) return;
    if (parcel.kind === "data") {
      if (to === server && parts.superseded()) odds.met("old_stream_heard");
      emit(to, "data", parcel.message);
      return;
    }
    to.deaf = true;
    if (parcel.kind === "end") emit(to, "end");
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
      for (const parcel of held) dispatch(side, parcel);
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
