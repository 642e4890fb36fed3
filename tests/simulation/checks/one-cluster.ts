// One cluster: a server whose member has lost its data never leads or acknowledges, and an agent never obeys a server
// of another cluster or one whose state is older than what the agent has heard. Every message to an agent is recorded
// with the kind of its sender; an attempt may end, start or be forgotten only on the word of the own cluster.

import type { KnownCluster, Stop } from "@lattice/agent";
import type { LogPosition } from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { StreamEnd } from "../network/connection.ts";
import type { SimulatedServer } from "../servers/server.ts";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

/** The party behind an address: the cluster, another cluster, or a server on an older copy of the log. */
export type Origin = "own" | "foreign" | "older";

export interface OneClusterCheck extends Watcher {
  /** Records what an agent receives on this stream. */
  tap(node: string, stream: StreamEnd, origin: Origin): StreamEnd;
  /** Checks what the node accepts. */
  known(node: string, cluster: KnownCluster): KnownCluster;
  onStart(node: string, key: string): void;
  onStop(node: string, key: string, stop: Stop): void;
  onArchive(node: string, key: string): void;
  onRefused(): void;
  /** Every second. */
  lookAt(servers: readonly SimulatedServer[]): void;
}

/** Each is obeyed; the receipt of a report ends the record of an attempt. */
type Order = "run" | "stop" | "forget" | "ack";

/** At most a fifth of the usual numbers. */
const LEAST_PER_HOUR = { foreignMet: 40, olderMet: 20, grownMet: 4, emptyRefused: 4 };

export function oneClusterCheck(world: World, clusterId: string): OneClusterCheck {
  /** `grownMet`: an older copy that has written more entries than the node knows. */
  const counts = { foreignMet: 0, olderMet: 0, grownMet: 0, emptyRefused: 0 };
  const clusters = new Map<string, KnownCluster>();
  /** Behind the message that a node looks at now. */
  let sender: Origin = "own";
  /** Orders of the own cluster, and of any other. */
  const ordered = new Set<string>();
  const suggested = new Map<string, Origin>();
  const of = (node: string, key: string, order: Order): string => `${order} ${key} on ${node}`;

  /** The attempt of each report, by its number; a number is used again after a restart of the agent. */
  const reports = new Map<string, string>();

  function record(node: string, { message, log }: pb.ServerMessage, origin: Origin): void {
    if (message.case === "welcome" || message.case === "refused") {
      const known = clusters.get(node)?.facts().knownLog.index ?? 0;
      if (origin === "foreign") counts.foreignMet += 1;
      if (origin === "older") counts.olderMet += 1;
      if (origin === "older" && known > 0 && (log?.index ?? 0) >= known) counts.grownMet += 1;
    }
    const key = keyOf(node, message);
    if (key === null) return;
    const what = of(node, key, message.case as Order);
    if (origin === "own") ordered.add(what);
    else suggested.set(what, origin);
  }

  function keyOf(node: string, message: pb.ServerMessage["message"]): string | null {
    if (message.case === "ack") return reports.get(`${node} ${message.value.number}`) ?? null;
    if (message.case !== "run" && message.case !== "stop" && message.case !== "forget") return null;
    return `${message.value.allocationId}.${message.value.attempt}`;
  }

  function require(node: string, key: string, orders: readonly Order[], did: string): void {
    const all = orders.map((order) => of(node, key, order));
    if (all.some((what) => ordered.has(what))) return;
    const by = all.map((what) => suggested.get(what)).find((origin) => origin !== undefined);
    const who = by === undefined ? "without an order" : `on the word of a server that is ${by}`;
    world.violated("D10", `${key} on ${node} ${did} ${who}`);
  }

  return {
    counts,
    leastPerHour: LEAST_PER_HOUR,
    applied: () => undefined,
    tap(node, stream, origin) {
      return {
        ...stream,
        write(message) {
          const body = (message as pb.AgentMessage).message;
          if (body.case === "report")
            reports.set(`${node} ${body.value.number}`, `${body.value.allocationId}.${body.value.attempt}`);
          return stream.write(message);
        },
        on(event, listener) {
          if (event !== "data") return stream.on(event, listener);
          return stream.on(event, (message) => {
            record(node, message as pb.ServerMessage, origin);
            sender = origin;
            listener(message);
            sender = "own";
          });
        },
      };
    },
    known(node, cluster) {
      const { adopt, heard } = cluster;
      clusters.set(node, cluster);
      let newest = 0;
      const accepted = ({ index }: LogPosition): void => {
        if (sender !== "own") world.violated("D10", `${node} obeys a server that is ${sender}`);
        if (index < newest)
          world.violated("D10", `${node} obeys a server at entry ${index}, after one at entry ${newest}`);
        newest = Math.max(newest, index);
      };
      return Object.assign(cluster, {
        adopt(welcome: pb.Welcome, log: LogPosition) {
          const refusal = adopt.call(cluster, welcome, log);
          if (refusal !== null) return refusal;
          if (welcome.clusterId !== clusterId)
            world.violated("D10", `${node} accepts a server of cluster "${welcome.clusterId}"`);
          accepted(log);
          return null;
        },
        heard(log: LogPosition, acts: boolean) {
          const refusal = heard.call(cluster, log, acts);
          if (refusal === null) accepted(log);
          return refusal;
        },
      });
    },
    onStart: (node, key) => require(node, key, ["run"], "starts"),
    onStop(node, key, { cause }) {
      if (cause === "stopped") require(node, key, ["stop", "forget"], "is stopped");
    },
    onArchive: (node, key) => require(node, key, ["forget", "ack"], "is forgotten"),
    onRefused() {
      counts.emptyRefused += 1;
    },
    lookAt(servers) {
      for (const server of servers)
        if (server.leadsAlone()) world.violated("S10", `${server.name} leads on a log of its own`);
    },
  };
}
