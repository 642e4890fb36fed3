// One stream between an agent and a server, as TCP would carry it: each direction keeps its order, a
// cut wire holds what is under way back until it heals, and either end may learn of a break late or
// never. An old stream's messages can therefore come after a newer stream's.

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
}

export interface ConnectionParts {
  readonly world: World;
  readonly random: Random;
  readonly node: string;
  readonly to: string;
  readonly clientHost: Host;
  readonly blocked: () => boolean;
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
  held: Parcel[];
}

const newSide = (host: Host | null): Side => ({
  listeners: new Map(),
  host,
  deaf: false,
  mute: false,
  lastAt: 0,
  held: [],
});

export function createConnection(parts: ConnectionParts): Connection {
  const { world, random } = parts;
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
    const slow = random.chance(0.02) ? random.between(50, 1_500) : 0;
    const at = Math.max(to.lastAt, world.now() + random.between(1, 12) + slow);
    to.lastAt = at;
    world.after(at - world.now(), () => arrive(to, parcel));
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
    breakFor(name) {
      const side = sideOf(name);
      side.host?.deliver(() => {
        if (side.deaf) return;
        side.deaf = true;
        tellBroken(side);
        settle();
      });
    },
    silence(name) {
      const side = sideOf(name);
      side.mute = true;
      side.deaf = true;
      settle();
    },
    flush,
    over: () => closed,
  };
}
