// The connection to the leader. The leader's name in the election contains its address; this keeps one client for it,
// and none when this server leads or no server does.

import type { ChannelCredentials } from "@grpc/grpc-js";
import { duration, type Instant, instant, type NodeId } from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import { type PeerName, parsePeer } from "./address.ts";
import type { ClusterCheck } from "./check-cluster.ts";
import { connectPeer, type PeerClient } from "./client.ts";

/** The maximum age of heartbeat times on a follower. */
const LIVENESS_AGE = duration(2_000);

/** How often a change of leader is checked; the check is cheap. */
const CHECK_INTERVAL = duration(50);

export interface Liveness {
  readonly lastHeardAt: Instant | null;
  readonly connected: boolean;
}

export interface LeaderConnection {
  /** The leader, when it is another server and is known. */
  leader(): PeerName | null;
  client(): PeerClient | null;
  /** The last answer of the leader; refreshed in the background when it is old. */
  liveness(node: NodeId): Liveness;
  close(): void;
}

interface Options {
  readonly selfId: string;
  /** Returns the name of the leader in the election. */
  readonly holder: () => string | null;
  readonly clock: Clock;
  readonly credentials: ChannelCredentials;
  /** Default: servers of other clusters are not detected. */
  readonly cluster?: ClusterCheck;
}

export function createLeaderConnection({ selfId, holder, clock, credentials, cluster }: Options): LeaderConnection {
  let client: PeerClient | null = null;
  let nodes: ReadonlyMap<string, Liveness> = new Map();
  let askedAt = -Infinity;
  let cancelCheck = clock.after(CHECK_INTERVAL, check);

  return {
    leader,
    client: current,
    liveness,
    close() {
      cancelCheck();
      client?.close();
    },
  };

  /** Detects a new leader without calls, so that streams to the old one end. */
  function check(): void {
    current();
    cancelCheck = clock.after(CHECK_INTERVAL, check);
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
    if (client === null && peer !== null) client = connectPeer(peer, credentials, cluster);
    return client;
  }

  function liveness(node: NodeId): Liveness {
    refresh();
    return nodes.get(node) ?? { lastHeardAt: null, connected: false };
  }

  function refresh(): void {
    const now = clock.now();
    const peer = current();
    if (peer === null || now - askedAt < LIVENESS_AGE) return;
    askedAt = now;
    peer.liveness().then(
      (facts) => {
        nodes = new Map(
          facts.map((fact) => [fact.node, { lastHeardAt: heardAt(fact.lastHeardMs), connected: fact.connected }]),
        );
      },
      // Keep the last answer; the next call retries.
      () => {},
    );
  }
}

const heardAt = (ms: number): Instant | null => (ms === 0 ? null : instant(Math.round(ms)));
