// Who leads, and the line to it. The election's holder names itself with its address; this keeps one
// channel to whoever that is now, and none when it is this server or nobody.

import type { ChannelCredentials } from "@grpc/grpc-js";
import { duration, type Instant, type NodeId } from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import { type PeerName, parsePeer } from "./address.ts";
import { connectPeer, type PeerClient } from "./client.ts";

/** How old what a follower says of a node's heartbeat may be. */
const LIVENESS_AGE = duration(2_000);

/** How soon a change of leader is noticed when nobody asks; the look costs next to nothing. */
const LOOK_EVERY = duration(50);

export interface Liveness {
  readonly lastHeardAt: Instant | null;
  readonly connected: boolean;
}

export interface LeaderConnection {
  /** The leader, when it is another server and is known. */
  leader(): PeerName | null;
  client(): PeerClient | null;
  /** What the leader said lately; asks again in the background when that is old. */
  liveness(node: NodeId): Liveness;
  close(): void;
}

interface Options {
  readonly selfId: string;
  /** The name in the election, as the engine tells it. */
  readonly holder: () => string | null;
  readonly clock: Clock;
  readonly credentials: ChannelCredentials;
}

export function createLeaderConnection({ selfId, holder, clock, credentials }: Options): LeaderConnection {
  let client: PeerClient | null = null;
  let nodes: ReadonlyMap<string, Liveness> = new Map();
  let askedAt = -Infinity;
  let cancelLook = clock.after(LOOK_EVERY, look);

  return {
    leader,
    client: current,
    liveness,
    close() {
      cancelLook();
      client?.close();
    },
  };

  /** Notices a new leader even when nobody asks, so that streams to the old one do not linger. */
  function look(): void {
    current();
    cancelLook = clock.after(LOOK_EVERY, look);
  }

  function leader(): PeerName | null {
    const name = holder();
    const peer = name === null ? null : parsePeer(name);
    return peer === null || peer.id === selfId ? null : peer;
  }

  function current(): PeerClient | null {
    const peer = leader();
    if (client !== null && (client.refused || client.token !== peer?.token)) {
      client.close();
      client = null;
    }
    if (client === null && peer !== null) client = connectPeer(peer, credentials);
    return client;
  }

  function liveness(node: NodeId): Liveness {
    refresh();
    return nodes.get(node) ?? { lastHeardAt: null, connected: false };
  }

  function refresh(): void {
    const now = clock.now();
    const line = current();
    if (line === null || now - askedAt < LIVENESS_AGE) return;
    askedAt = now;
    line.liveness().then(
      (facts) => {
        nodes = new Map(
          facts.map((fact) => [fact.node, { lastHeardAt: heardAt(fact.lastHeardMs), connected: fact.connected }]),
        );
      },
      // The next question asks again; until then the last answer stands.
      () => {},
    );
  }
}

const heardAt = (ms: number): Instant | null => (ms === 0 ? null : (Math.round(ms) as Instant));
