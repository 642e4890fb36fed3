// The connections between agents and servers: reachability, dials and open streams. It breaks streams and connections
// on request and does not decide when.

import type { MessageFaults } from "../faults/message-faults.ts";
import type { Host } from "../world/host.ts";
import type { World } from "../world/world.ts";
import { type Connection, createConnection, type StreamEnd } from "./connection.ts";

/** A server as seen by the network; `null` while its process is dead. */
export interface Listening {
  readonly host: Host;
  accept(stream: StreamEnd): void;
}

export interface Network {
  listen(server: string, listening: Listening | null): void;
  dial(node: string, host: Host, server: string): StreamEnd;
  /** Cuts the connection; the returned function restores it. Cuts add up. */
  cut(node: string, server: string): () => void;
  /** Another server answers that node at the address of a server. The returned function ends it. */
  divert(node: string, server: string, to: string): () => void;
  /** The party that answers that node at the address of a server. */
  answersFor(node: string, server: string): string;
  /** A process has died. `farewell`: its kernel still closes its connections. */
  gone(side: "client" | "server", name: string, farewell: boolean): void;
  /** Breaks one stream of that node, if it has one. */
  drop(node: string): boolean;
  /** The stream on which these two can communicate now, or `null`. */
  whole(node: string, server: string): object | null;
  open(): number;
}

/** Timeout of a dial to an unreachable server. */
const DIAL_TIMEOUT_MS = 5_000;
/** An agent's keepalive detects a dead connection within this range. */
const KEEPALIVE_MS: readonly [number, number] = [20_000, 30_000];
/** Probability that a server never learns of a broken stream. */
const HALF_OPEN = 0.3;

export function createNetwork(world: World, messageFaults: MessageFaults): Network {
  const random = world.random("network");
  const servers = new Map<string, Listening>();
  const cuts = new Map<string, number>();
  const diverted = new Map<string, string>();
  const connections = new Set<Connection>();
  /** The stream of each node that a server accepted last. */
  const newest = new Map<string, Connection>();
  const wire = (node: string, server: string): string => `${node}>${server}`;
  const blocked = (node: string, server: string): boolean => (cuts.get(wire(node, server)) ?? 0) > 0;

  const answersFor = (node: string, server: string): string => diverted.get(wire(node, server)) ?? server;

  function between(node: string, server: string): Connection[] {
    return [...connections].filter((one) => one.node === node && one.to === server);
  }

  function reach(connection: Connection, clientHost: Host): void {
    const { node, to } = connection;
    if (!clientHost.alive() || connection.clientLeft()) {
      connections.delete(connection);
      return;
    }
    const server = servers.get(to);
    if (blocked(node, to)) {
      world.after(DIAL_TIMEOUT_MS, () => abandon(connection));
      return;
    }
    if (server === undefined) {
      abandon(connection);
      return;
    }
    newest.set(node, connection);
    connection.establish(server.host);
    server.host.deliver(() => server.accept(connection.server));
  }

  function abandon(connection: Connection): void {
    connection.silence("server");
    connection.breakFor("client");
    connections.delete(connection);
  }

  /** Both ends learn of it at different times, the server perhaps never. */
  function breakUp(connection: Connection, clientWait: number): void {
    world.after(clientWait, () => connection.breakFor("client"));
    if (random.chance(HALF_OPEN)) return;
    world.after(random.between(1, 2_000), () => connection.breakFor("server"));
  }

  return {
    listen(server, listening) {
      if (listening === null) servers.delete(server);
      else servers.set(server, listening);
    },
    dial(node, host, server) {
      const connection = createConnection({
        world,
        random,
        messageFaults,
        node,
        to: answersFor(node, server),
        clientHost: host,
        blocked: () => blocked(node, server),
        superseded: () => newest.get(node) !== connection,
        onClosed: () => connections.delete(connection),
      });
      connections.add(connection);
      world.after(random.between(1, 15), () => reach(connection, host));
      return connection.client;
    },
    cut(node, server) {
      const name = wire(node, server);
      cuts.set(name, (cuts.get(name) ?? 0) + 1);
      for (const connection of between(node, server)) {
        const patience = random.between(...KEEPALIVE_MS);
        world.after(patience, () => {
          if (!blocked(node, server)) return;
          connection.breakFor("client");
        });
      }
      return () => {
        cuts.set(name, (cuts.get(name) ?? 1) - 1);
        if (!blocked(node, server)) for (const connection of between(node, server)) connection.flush();
      };
    },
    divert(node, server, to) {
      diverted.set(wire(node, server), to);
      return () => diverted.delete(wire(node, server));
    },
    answersFor,
    gone(side, name, farewell) {
      for (const connection of [...connections]) {
        if ((side === "client" ? connection.node : connection.to) !== name) continue;
        connection.silence(side);
        const other = side === "client" ? "server" : "client";
        const wait = farewell ? random.between(1, 200) : random.between(...KEEPALIVE_MS);
        // A server has no keepalive of its own: without a farewell it never learns of the break.
        if (farewell || other === "client") world.after(wait, () => connection.breakFor(other));
      }
    },
    drop(node) {
      const open = [...connections].filter((one) => one.node === node && one.established());
      const connection = open.at(-1);
      if (connection === undefined) return false;
      breakUp(connection, random.between(1, 1_000));
      return true;
    },
    whole(node, server) {
      const stream = newest.get(node);
      return stream === undefined || stream.to !== server || blocked(node, server) || !stream.whole() ? null : stream;
    },
    open: () => connections.size,
  };
}
