// Which agents are connected, when each was last heard, and the way to send them orders.
// Heartbeats live here, in memory, and nowhere else: they are not in the log. The hub knows
// streams, not meaning; what to order follows from state (`orders-of.ts`) and from effects.

import type { Instant, NodeId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type Clock, steadyNow } from "../../base/clock.ts";

export type ServerMessageBody = NonNullable<pb.ServerMessage["message"]>;

export interface AgentSession {
  readonly node: NodeId;
  /** The version of the protocol that was agreed on; nothing newer may be sent. */
  readonly protocol: number;
  /** Where other agents reach it; empty: nowhere. */
  readonly peer?: string;
  send(message: ServerMessageBody): void;
  /** Ends the stream with a reason the agent logs. */
  end(reason: string): void;
}

export interface AgentHub {
  /** The newest stream of a node wins; an older one is ended. */
  add(session: AgentSession): void;
  remove(session: AgentSession): void;
  /** False when the node has no stream: the order is sent when its agent comes back. */
  send(node: NodeId, message: ServerMessageBody): boolean;
  connected(node: NodeId): boolean;
  /** Where other agents reach this one; empty: nowhere. */
  peer(node: NodeId): string;
  /** Ends the node's stream: its agent reconnects, and attempts without a claim are stopped. */
  drop(node: NodeId, reason: string): void;
  /** Calls back whenever a node's stream is there. */
  onConnect(listener: (node: NodeId) => void): () => void;
  readonly count: number;
  /** Sequence numbers only grow within a stream; a repeated one is not a sign of life. */
  heard(session: AgentSession, sequence: number): boolean;
  /** What a node says of its output on the way to the store. */
  told(session: AgentSession, output: OutputFigures): void;
  /** Of all nodes that have told. */
  output(): OutputFigures;
  /** When a node's certificate ends, by its own word. */
  certified(session: AgentSession, endsMs: number): void;
  /** Returns the earliest certificate expiry of the connected agents; null when none reported one. */
  firstCertificateEnd(): number | null;
  lastHeard(node: NodeId): Instant | null;
  /** Its agent has told its fingerprint again. */
  renewed(session: AgentSession): void;
  /** When the node's agent last introduced itself, its fingerprint included; null: not since this server leads. */
  introduced(node: NodeId): Instant | null;
  /** The same on the steady clock: silence must not be measured by a clock that can jump. */
  lastHeardSteady(node: NodeId): Instant | null;
  close(): void;
}

/** Bytes of output that wait for the store, and that were dropped because it was away for too long. */
export interface OutputFigures {
  readonly waiting: number;
  readonly dropped: number;
}

interface Presence {
  output?: OutputFigures;
  certificateEndsMs?: number;
  session: AgentSession | null;
  sequence: number;
  heardAt: Instant;
  heardSteady: Instant;
  introducedAt: Instant;
}

export function createAgentHub(clock: Clock): AgentHub {
  const nodes = new Map<NodeId, Presence>();
  const listeners = new Set<(node: NodeId) => void>();
  let count = 0;

  return {
    add(session) {
      const before = nodes.get(session.node);
      if (before?.session) before.session.end("superseded by a newer connection of the same node");
      else count += 1;
      const now = clock.now();
      nodes.set(session.node, {
        session,
        sequence: -1,
        heardAt: now,
        heardSteady: steadyNow(clock),
        introducedAt: now,
      });
      for (const listener of listeners) listener(session.node);
    },
    remove(session) {
      const presence = nodes.get(session.node);
      if (presence?.session !== session) return;
      presence.session = null;
      count -= 1;
    },
    send(node, message) {
      const session = nodes.get(node)?.session;
      if (!session) return false;
      session.send(message);
      return true;
    },
    drop: (node, reason) => nodes.get(node)?.session?.end(reason),
    peer: (node) => nodes.get(node)?.session?.peer ?? "",
    connected: (node) => Boolean(nodes.get(node)?.session),
    onConnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get count() {
      return count;
    },
    heard(session, sequence) {
      const presence = nodes.get(session.node);
      if (presence?.session !== session || sequence <= presence.sequence) return false;
      presence.sequence = sequence;
      presence.heardAt = clock.now();
      presence.heardSteady = steadyNow(clock);
      return true;
    },
    told(session, output) {
      const presence = nodes.get(session.node);
      if (presence?.session === session) presence.output = output;
    },
    output() {
      let waiting = 0;
      let dropped = 0;
      for (const { output } of nodes.values()) {
        waiting += output?.waiting ?? 0;
        dropped += output?.dropped ?? 0;
      }
      return { waiting, dropped };
    },
    certified(session, endsMs) {
      const presence = nodes.get(session.node);
      if (presence?.session === session) presence.certificateEndsMs = endsMs;
    },
    firstCertificateEnd() {
      let first: number | null = null;
      for (const { session, certificateEndsMs: ends } of nodes.values())
        if (session !== null && ends !== undefined) first = Math.min(first ?? ends, ends);
      return first;
    },
    renewed(session) {
      const presence = nodes.get(session.node);
      if (presence?.session === session) presence.introducedAt = clock.now();
    },
    lastHeard: (node) => nodes.get(node)?.heardAt ?? null,
    introduced: (node) => nodes.get(node)?.introducedAt ?? null,
    lastHeardSteady: (node) => nodes.get(node)?.heardSteady ?? null,
    close() {
      for (const presence of nodes.values()) presence.session?.end("the server is stopping");
      nodes.clear();
      count = 0;
    },
  };
}
