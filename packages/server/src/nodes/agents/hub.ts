// The connected agents, the time of their last heartbeats, and the way to send them orders. Heartbeats are kept in
// memory here, never in the log. The hub knows streams, not their meaning: orders follow from the state (`orders.ts`)
// and from effects.

import type { Instant, NodeId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type Clock, monotonicNow } from "../../base/clock.ts";

export type ServerMessageBody = NonNullable<pb.ServerMessage["message"]>;

export interface AgentSession {
  readonly node: NodeId;
  /** The negotiated protocol version; nothing newer may be sent. */
  readonly protocol: number;
  /** Address for other agents; empty without one. */
  readonly peer?: string;
  /** Addresses of its uplink for network domains. Default: none. */
  readonly overlay?: readonly string[];
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
  /** Returns the address of the agent for other agents; empty without one. */
  peer(node: NodeId): string;
  /** Returns the uplink addresses that the agent reported last; `null` when it has not connected since this server leads. */
  overlay(node: NodeId): readonly string[] | null;
  /** Ends the node's stream: its agent reconnects, and attempts without a claim are stopped. */
  drop(node: NodeId, reason: string): void;
  /** Calls back after each new stream of a node. */
  onConnect(listener: (node: NodeId) => void): () => void;
  /** Calls back after the stream of a node has ended and no other has replaced it. */
  onDisconnect(listener: (node: NodeId) => void): () => void;
  readonly count: number;
  /** Records a heartbeat. Returns false for a repeated sequence number, which proves nothing. */
  heard(session: AgentSession, sequence: number): boolean;
  /** Records a node's report about output on its way to the store. */
  recordOutput(session: AgentSession, output: OutputFigures): void;
  /** Returns the sum over all nodes. */
  output(): OutputFigures;
  /** Records the certificate expiry that a node reports. */
  recordCertificate(session: AgentSession, endsMs: number): void;
  /** Returns the earliest certificate expiry of the connected agents; null when none reported one. */
  firstCertificateEnd(): number | null;
  lastHeard(node: NodeId): Instant | null;
  /** Records that the agent has reported its fingerprint again. */
  recordFingerprint(session: AgentSession): void;
  /** Returns when the agent last reported its fingerprint; `null` when not since this server leads. */
  fingerprintAt(node: NodeId): Instant | null;
  /** The last heartbeat on the monotonic clock: a wall-clock jump must not look like missed heartbeats. */
  lastHeardSteady(node: NodeId): Instant | null;
  close(): void;
}

/** Bytes of output that wait for the store, and bytes dropped because it was unavailable for too long. */
interface OutputFigures {
  readonly waiting: number;
  readonly dropped: number;
}

interface Presence {
  output?: OutputFigures;
  certificateEndsMs?: number;
  session: AgentSession | null;
  overlay: readonly string[];
  sequence: number;
  heardAt: Instant;
  heardSteady: Instant;
  fingerprintAt: Instant;
}

export function createAgentHub(clock: Clock): AgentHub {
  const nodes = new Map<NodeId, Presence>();
  const listeners = new Set<(node: NodeId) => void>();
  const leaveListeners = new Set<(node: NodeId) => void>();
  let count = 0;

  return {
    add(session) {
      const before = nodes.get(session.node);
      if (before?.session) before.session.end("superseded by a newer connection of the same node");
      else count += 1;
      const now = clock.now();
      nodes.set(session.node, {
        session,
        overlay: session.overlay ?? [],
        sequence: -1,
        heardAt: now,
        heardSteady: monotonicNow(clock),
        fingerprintAt: now,
      });
      for (const listener of listeners) listener(session.node);
    },
    remove(session) {
      const presence = nodes.get(session.node);
      if (presence?.session !== session) return;
      presence.session = null;
      count -= 1;
      for (const listener of leaveListeners) listener(session.node);
    },
    send(node, message) {
      const session = nodes.get(node)?.session;
      if (!session) return false;
      session.send(message);
      return true;
    },
    drop: (node, reason) => nodes.get(node)?.session?.end(reason),
    overlay: (node) => nodes.get(node)?.overlay ?? null,
    peer: (node) => nodes.get(node)?.session?.peer ?? "",
    connected: (node) => Boolean(nodes.get(node)?.session),
    onConnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onDisconnect(listener) {
      leaveListeners.add(listener);
      return () => leaveListeners.delete(listener);
    },
    get count() {
      return count;
    },
    heard(session, sequence) {
      const presence = nodes.get(session.node);
      if (presence?.session !== session || sequence <= presence.sequence) return false;
      presence.sequence = sequence;
      presence.heardAt = clock.now();
      presence.heardSteady = monotonicNow(clock);
      return true;
    },
    recordOutput(session, output) {
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
    recordCertificate(session, endsMs) {
      const presence = nodes.get(session.node);
      if (presence?.session === session) presence.certificateEndsMs = endsMs;
    },
    firstCertificateEnd() {
      let first: number | null = null;
      for (const { session, certificateEndsMs: ends } of nodes.values())
        if (session !== null && ends !== undefined) first = Math.min(first ?? ends, ends);
      return first;
    },
    recordFingerprint(session) {
      const presence = nodes.get(session.node);
      if (presence?.session === session) presence.fingerprintAt = clock.now();
    },
    lastHeard: (node) => nodes.get(node)?.heardAt ?? null,
    fingerprintAt: (node) => nodes.get(node)?.fingerprintAt ?? null,
    lastHeardSteady: (node) => nodes.get(node)?.heardSteady ?? null,
    close() {
      for (const presence of nodes.values()) presence.session?.end("the server is stopping");
      nodes.clear();
      count = 0;
    },
  };
}
