// One node of the simulated cluster: its machine, and the agents that run on it one after the other. Each agent is the
// real one, on this machine's clock, over the simulated network.

import { create } from "@bufbuild/protobuf";
import {
  type AgentNode,
  type Dialer,
  gate,
  type HeartbeatTimer,
  identityOf,
  type KnownCluster,
  knownCluster,
  type NodeIdentity,
  startNode,
} from "@lattice/agent";
import { pb } from "@lattice/wire";
import type { OneClusterCheck, Origin } from "../checks/one-cluster.ts";
import type { StreamEnd } from "../network/connection.ts";
import type { Network } from "../network/network.ts";
import { createHost, type Host } from "../world/host.ts";
import { quietLogger } from "../world/logger.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Machine } from "./machine.ts";
import { machineRuntime } from "./runtime.ts";

export interface SimulatedNode {
  readonly name: string;
  readonly machine: Machine;
  /** Changes its configuration; a live agent reports it. */
  drift(conformance: string): void;
  /** `null` while no agent lives. */
  agent(): Host | null;
  /** The newest entry that it has heard of; 0 while it belongs to no cluster. */
  knownIndex(): number;
  /** Start of the current agent. */
  upSinceMs(): number;
  start(): void;
  /** Kills the agent; its workloads continue. */
  crash(): void;
  /** Kills everything on the machine. */
  powerOff(): void;
  /** Powers it off and erases its disk. */
  reimage(): void;
}

/** The hardware of every node. */
export const NODE_CORES = 64;

export interface NodeParts {
  readonly world: World;
  readonly network: Network;
  readonly machine: Machine;
  readonly group: string;
  /** Empty: serves all vClusters. */
  readonly home: string;
  readonly servers: readonly string[];
  readonly oneCluster: OneClusterCheck;
  /** The party behind a server's name. */
  readonly originOf: (server: string) => Origin;
}

export function createNode(parts: NodeParts): SimulatedNode {
  const { world, network, machine, group, home, servers, oneCluster } = parts;
  const { name } = machine;
  const random = world.random(`agent ${name}`);
  // The disk of the machine keeps it.
  let cluster = noCluster();
  let host: Host | null = null;
  let agent: AgentNode | null = null;
  let lives = 0;
  let upSinceMs = 0;

  function noCluster(): KnownCluster {
    return oneCluster.known(name, knownCluster(null));
  }

  function start(): void {
    if (host !== null) return;
    lives += 1;
    const mine = createHost(world, `${name}#${lives}`);
    host = mine;
    upSinceMs = world.now();
    const started = startNode({
      identity: identityFor(machine, group, home),
      dialer: dialerFor(mine),
      member: 0,
      heartbeatTimer: beats(mine, random),
      random: random.next,
      now: machine.clock,
      after: mine.after,
      log: quietLogger(world, mine.name),
      vitals: () => ({ load1: 0, memoryAvailableGb: 0 }),
      runtime: async (listener) => machineRuntime({ world, machine, host: mine, random, listener, oneCluster }),
      cluster,
      renewed: () => ({ conformance: machine.conformance }),
      probe: async (_, key) => {
        await mine.wait(random.between(0, 20));
        return machine.probe(key);
      },
    });
    void started.then((node) => {
      if (host === mine) agent = node;
    });
  }

  function dialerFor(mine: Host): Dialer {
    const shuffled = [...servers].map((server) => ({ server, key: random.next() })).sort((a, b) => a.key - b.key);
    return {
      servers: shuffled.map(({ server }) => server),
      greeting: gate(),
      // The one method of a channel that a node uses for its stream.
      client: (server) =>
        ({ makeBidiStreamRequest: () => dial(mine, server) }) as unknown as ReturnType<Dialer["client"]>,
      close: () => undefined,
    };
  }

  function dial(mine: Host, server: string): StreamEnd {
    const origin = parts.originOf(network.answersFor(name, server));
    return oneCluster.tap(name, network.dial(name, mine, server), origin);
  }

  function powerOff(): void {
    end(false);
    machine.reboot();
  }

  function end(farewell: boolean): void {
    if (host === null) return;
    host.kill();
    host = null;
    agent = null;
    network.gone("client", name, farewell);
  }

  return {
    name,
    machine,
    agent: () => host,
    knownIndex: () => cluster.facts().knownLog.index,
    upSinceMs: () => upSinceMs,
    drift(conformance) {
      machine.conformance = conformance;
      agent?.sendCondition(create(pb.ConditionReportSchema, { conformance }));
    },
    start,
    crash: () => end(true),
    powerOff,
    reimage() {
      powerOff();
      machine.wipe();
      cluster = noCluster();
    },
  };
}

function identityFor(machine: Machine, group: string, home: string): NodeIdentity {
  const hardware = {
    cpuCores: NODE_CORES,
    memoryGb: 256,
    gpuType: "",
    gpuCount: 0,
    features: [],
    hostname: machine.name,
    kernel: "6.1",
  };
  return identityOf({
    nodeId: machine.name,
    group,
    homeVcluster: home,
    conformance: machine.conformance,
    hardware,
    version: "simulated",
    bootId: machine.bootId(),
    isolation: "process_group",
    hollow: false,
  });
}

/** Heartbeats come directly from the virtual clock; the real timer would tick many times a second for nothing. */
function beats(host: Host, random: Random): HeartbeatTimer {
  return {
    join(intervalMs, beat) {
      let cancel = host.after(random.next() * intervalMs, turn);
      function turn(): void {
        cancel = host.after(intervalMs, turn);
        beat();
      }
      return () => cancel();
    },
    close: () => undefined,
  };
}
