// The whole simulated cluster: servers on one log, nodes with their machines, the network between
// them, users, and the checks that watch all of it.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStore, type MemoryStore } from "@lattice/server";
import { type BackfillCheck, backfillCheck } from "./checks/backfill.ts";
import { createLedger, type Ledger } from "./checks/ledger.ts";
import { networkChecks } from "./checks/networks.ts";
import { nodeChecks } from "./checks/nodes.ts";
import { type Origin, oneClusterCheck } from "./checks/one-cluster.ts";
import { ownerChecks } from "./checks/owners.ts";
import { placementChecks } from "./checks/placements.ts";
import { type ProcessChecks, processChecks } from "./checks/processes.ts";
import { type ReservationCheck, reservationCheck } from "./checks/reservations.ts";
import { serviceChecks } from "./checks/services.ts";
import { createSettled } from "./checks/settled.ts";
import { turnChecks } from "./checks/turns.ts";
import type { Watcher } from "./checks/watcher.ts";
import { webhookChecks } from "./checks/webhooks.ts";
import { createExternalSystems, type ExternalSystems } from "./external/external-systems.ts";
import { createMessageFaults, type MessageFaults } from "./faults/message-faults.ts";
import { createNetwork, type Network } from "./network/network.ts";
import { createRequestWire, type RequestWire } from "./network/requests.ts";
import { createMachine } from "./nodes/machine.ts";
import { createNode, NODE_CORES, type SimulatedNode } from "./nodes/node.ts";
import { createImpostors, FOREIGN_SERVER, type Impostors, OLDER_SERVER } from "./servers/impostors.ts";
import type { LogFaults } from "./servers/log.ts";
import { createServer, SETTINGS, SIMULATED_CLUSTER, type SimulatedServer } from "./servers/server.ts";
import { createClient } from "./users/client.ts";
import { LENDER } from "./users/requests.ts";
import { createUsers, type Users } from "./users/users.ts";
import type { World } from "./world/world.ts";

export interface Cluster {
  readonly world: World;
  readonly network: Network;
  readonly store: MemoryStore;
  readonly logFaultRates: LogFaults;
  readonly servers: readonly SimulatedServer[];
  readonly nodes: readonly SimulatedNode[];
  readonly users: Users;
  readonly ledger: Ledger;
  readonly truth: ProcessChecks;
  readonly external: ExternalSystems;
  readonly watchers: readonly Watcher[];
  readonly backfill: BackfillCheck;
  readonly reservations: ReservationCheck;
  readonly faults: ReadonlyMap<string, number>;
  readonly messageFaults: MessageFaults;
  readonly impostors: Impostors;
  /** The server that answers at addresses of the cluster now, or `null`. */
  impostor: string | null;
  elections(): number;
  leader(): SimulatedServer | null;
  /** Ends every process, whose waits would otherwise keep the whole world in memory. */
  close(): void;
}

export interface ClusterSize {
  readonly servers: number;
  readonly nodes: number;
  readonly nodesPerGroup: number;
  /** Factor by which users are slower than usual. */
  readonly pace: number;
  /** Kinds of users that do not work. */
  readonly withoutUsers: readonly string[];
}

/** Start time of the simulated world. */
const EPOCH_MS = 1_700_000_000_000;
/** Delay before a server that exited on its own is started again. */
const RESTART_MS = 2_000;
/** Interval of the checks for acknowledged submissions and overdue processes. */
const LOOK_MS = 1_000;

export function createCluster(world: World, size: ClusterSize): Cluster {
  const faults = new Map<string, number>();
  const count = (kind: string): void => void faults.set(kind, (faults.get(kind) ?? 0) + 1);
  const messageFaults = createMessageFaults(world, count);
  const network = createNetwork(world, messageFaults);
  const store = createMemoryStore();
  const logFaultRates: LogFaults = { lossBefore: 0, lossAfter: 0, slowMs: 0, stale: false };
  const external = createExternalSystems(world);
  const owners = ownerChecks(world, { ...SETTINGS.limits, cores: NODE_CORES });
  const oneCluster = oneClusterCheck(world, SIMULATED_CLUSTER);
  const dataDir = mkdtempSync(join(tmpdir(), "lattice-simulation-"));
  const watchers: readonly Watcher[] = [
    placementChecks(world),
    turnChecks(world),
    serviceChecks(world, external.metrics),
    webhookChecks(world, external.receiver),
    nodeChecks(world, SETTINGS.faults),
    owners,
    networkChecks({ world, fabric: external.fabric, machines: () => nodes.map(({ machine }) => machine) }),
    oneCluster,
  ];
  const ledger = createLedger(world, SETTINGS, (replica, applied) => {
    for (const watcher of watchers) watcher.applied(replica, applied);
  });
  const truth = processChecks(world, ledger, owners);
  const settled = createSettled();
  const backfill = backfillCheck(world);
  const reservations = reservationCheck(world);
  const names = Array.from({ length: size.servers }, (_, n) => `s${n + 1}`);
  let elections = 0;

  const servers: readonly SimulatedServer[] = names.map((name) =>
    createServer({
      world,
      network,
      store,
      logFaultRates,
      name,
      epochMs: EPOCH_MS,
      external,
      dataDir: dataDirOf(dataDir, name),
      onReplica(server, life, replica) {
        if (server.lost())
          replica.onApplied(() => world.violated("S10", `${server.name} has an entry in a log of its own`));
        if (server.lost()) return;
        ledger.restored(life.host.name, replica);
        replica.onApplied((applied) => ledger.applied(life.host.name, replica, applied));
      },
      onExpelled(server) {
        // Its supervisor starts it again, in vain until an operator acts.
        oneCluster.onRefused();
        world.note(`${server.name} is expelled`);
        server.crash();
        world.after(RESTART_MS, server.start);
      },
      onFailed(server, error) {
        // A process that cannot continue exits and is started again; only falling behind the log is a valid reason.
        const text = error instanceof Error ? error.message : String(error);
        world.note(`${server.name} failed: ${text}`);
        if (!/is gone, the log begins|does not answer/.test(text)) world.violated("failed", `${server.name}: ${text}`);
        server.crash();
        world.after(RESTART_MS, server.start);
      },
      messageFaults,
      onCycle(view, result, moment) {
        backfill.cycle(view, result, moment.nowMs);
        reservations.cycle(view, result, moment);
      },
      pass: (follower, leader, command) => wire.pass(follower, leader, command),
      onCut(host) {
        const server = servers.find((one) => one.life()?.host.name === host);
        server?.crash();
        if (server !== undefined) world.after(RESTART_MS, server.start);
      },
      onWon(term) {
        elections += 1;
        ledger.won(term);
      },
    }),
  );
  const nodes = Array.from({ length: size.nodes }, (_, n) => {
    const name = `n${String(n + 1).padStart(2, "0")}`;
    const machine = createMachine({
      world,
      name,
      random: world.random(`machine ${name}`),
      epochMs: EPOCH_MS,
      onStart(machine, process) {
        truth.started(machine, process);
        for (const watcher of watchers) watcher.started?.(machine, process);
      },
      onEnd: truth.ended,
    });
    const group = `g${Math.floor(n / size.nodesPerGroup)}`;
    const home = n % size.nodesPerGroup === size.nodesPerGroup - 1 ? LENDER : "";
    return createNode({ world, network, machine, group, home, servers: names, oneCluster, originOf });
  });
  const wire: RequestWire = createRequestWire(world, messageFaults, servers);
  const client = createClient(world, servers, wire);
  const { pace, withoutUsers } = size;
  const nodeNames = nodes.map((node) => node.name);
  const users = createUsers({ world, client, truth, nodes: nodeNames, pace, withoutUsers });
  const leader = (): SimulatedServer | null => servers.find((server) => server.leads()) ?? null;

  function look(): void {
    world.after(LOOK_MS, look);
    truth.look(nodes);
    const view = leader()?.life()?.replica?.view;
    if (view !== undefined) for (const watcher of watchers) watcher.look?.(view);
    oneCluster.lookAt(servers);
    settled.look(cluster);
  }

  for (const server of servers) server.start();
  for (const node of nodes) world.after(world.random(`start ${node.name}`).between(0, 3_000), node.start);
  const cluster: Cluster = {
    world,
    network,
    store,
    logFaultRates,
    servers,
    nodes,
    users,
    ledger,
    truth,
    external,
    watchers,
    backfill,
    reservations,
    faults,
    messageFaults,
    impostors: createImpostors({ world, network, epochMs: EPOCH_MS }),
    impostor: null,
    elections: () => elections,
    leader,
    close() {
      for (const server of servers) server.crash();
      for (const node of nodes) node.crash();
      world.close();
      rmSync(dataDir, { recursive: true });
    },
  };
  look();
  return cluster;
}

function dataDirOf(dataDir: string, server: string): string {
  const dir = join(dataDir, server);
  mkdirSync(dir);
  return dir;
}

const originOf = (server: string): Origin => {
  if (server === FOREIGN_SERVER) return "foreign";
  return server === OLDER_SERVER ? "older" : "own";
};
