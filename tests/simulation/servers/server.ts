// One server of the simulated cluster through its restarts: the real replica, leader, controllers, hub and agent
// streams, over the simulated log and network. Only the leader serves agents and users; the others refuse, and callers
// try the next.

import { type AllocationId, type Command, duration, instant, type Outcome } from "@lattice/core";
import {
  archiveTo,
  type Clock,
  ClusterMismatchError,
  type Config,
  type ConnectCall,
  createAgentHub,
  createBroker,
  createCheckpointBoard,
  createMemoryStore,
  createPlannerLink,
  failureRules,
  handleConnect,
  isReserved,
  type Leader,
  loadConfig,
  type MemoryStore,
  openOwnCluster,
  openReplica,
  type Replica,
  refuseAgent,
  startLeading,
  startSnapshotter,
} from "@lattice/server";
import { ProblemError } from "@lattice/wire";
import type { ReservationCheck } from "../checks/reservations.ts";
import type { ExternalSystems } from "../external/external-systems.ts";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { StreamEnd } from "../network/connection.ts";
import type { Network } from "../network/network.ts";
import { createHost, type Host } from "../world/host.ts";
import { quietLogger } from "../world/logger.ts";
import type { World } from "../world/world.ts";
import { emptyHistoryDisk, type HistoryDisk, type SimulatedHistory, simulatedHistory } from "./history.ts";
import { type LogFaults, openServerLog, type ServerLog } from "./log.ts";
import { noMetrics } from "./metrics.ts";
import { simulatedPlanner } from "./planner.ts";

export const SETTINGS = {
  heartbeatMs: 10_000,
  timeoutMs: 30_000,
  graceMs: 60_000,
  /** As the controllers use it. */
  borrowedGraceMs: 30_000,
  snapshotEvery: 150,
  /** Nodes fail often enough that the broker requests checkpoints. */
  checkpoints: {
    evaluationInterval: duration(30_000),
    storageGbPerSecond: 1,
    gpuMemoryGb: 1,
    nodeMtbfHours: 1,
    storageSecondsPerGb: 0,
    keep: 3,
    retention: duration(0),
    quietInterval: duration(120_000),
  },
  faults: {
    failuresToQuarantine: 3,
    quickFailure: duration(10_000),
    prologueRetries: 3,
    quarantineMaxPercent: 30,
    probation: duration(600_000),
    driftRemediationTimeout: duration(60_000),
    sensitiveDriftRemediationTimeout: duration(30_000),
  },
  /** So few VNIs that the pool is exhausted now and then. */
  network: {
    vniPoolStart: 1_000,
    vniPoolEnd: 1_010,
    gracePeriod: duration(20_000),
    autoDomains: true,
    driver: "fabric_manager",
  },
  /** Fewer than the nodes at home there. */
  limits: { sensitivePoolSize: 2 },
  retention: { maxFinished: 40, maxFinishedAge: duration(600_000) },
} as const;

function configWith(webhooks: Config["notifications"]["webhooks"]): Config {
  const defaults = loadConfig(null);
  return {
    ...defaults,
    notifications: { webhooks },
    retention: SETTINGS.retention,
    checkpoint: SETTINGS.checkpoints,
    faults: SETTINGS.faults,
    network: { ...defaults.network, ...SETTINGS.network },
    scheduling: { ...defaults.scheduling, ...SETTINGS.limits, minCycleMs: 250 },
    nodeAgent: {
      ...defaults.nodeAgent,
      heartbeatTimeout: duration(SETTINGS.timeoutMs),
      gracePeriod: duration(SETTINGS.graceMs),
      borrowedGracePeriod: duration(SETTINGS.borrowedGraceMs),
    },
  };
}

/** One process of a server. */
export interface ServerProcess {
  readonly host: Host;
  readonly wire: ServerLog;
  /** `null` until it has caught up with the newest snapshot. */
  replica: Replica | null;
  leader: Leader | null;
  /** Ends its planner; `null` before the first. */
  losePlanner: (() => void) | null;
  readonly history: SimulatedHistory;
}

export interface SimulatedServer {
  readonly name: string;
  readonly historyDisk: HistoryDisk;
  /** Whether this server's history has the record: durable, or in flight while the process lives. */
  remembers(id: AllocationId): boolean;
  life(): ServerProcess | null;
  leads(): boolean;
  start(): void;
  crash(): void;
  jump(byMs: number): void;
  /** Its member of the log lost its data. Running: its next connection is to the empty one; else the server is dead. */
  loseMember(running: boolean): void;
  /** An operator joins a new member to the cluster and starts the server again. */
  replaceMember(): void;
  /** Its member has no part of the cluster's log. */
  lost(): boolean;
  /** It leads in the empty log of its new member. */
  leadsAlone(): boolean;
  /** Applied by this server if it leads, else forwarded to the server that it takes for the leader. */
  propose(command: Command): Promise<Outcome>;
  /** By this server, or not at all. */
  commit(command: Command): Promise<Outcome>;
}

export interface ServerParts {
  readonly world: World;
  readonly network: Network;
  readonly store: MemoryStore;
  readonly logFaultRates: LogFaults;
  readonly epochMs: number;
  readonly name: string;
  readonly external: ExternalSystems;
  /** Default: the cluster under test. */
  readonly clusterId?: string | undefined;
  /** The folder with its identity; `null`: it stores none. */
  readonly dataDir: string | null;
  /** The server's end of a new stream as the server sees it. Default: unchanged. */
  readonly accepted?: (stream: StreamEnd) => StreamEnd;
  readonly onReplica: (server: SimulatedServer, life: ServerProcess, replica: Replica) => void;
  /** It belongs to another cluster than its log; it exits. */
  readonly onExpelled: (server: SimulatedServer) => void;
  readonly onFailed: (server: SimulatedServer, error: unknown) => void;
  readonly messageFaults: MessageFaults;
  readonly onCycle: ReservationCheck["cycle"];
  readonly onWon: (term: number) => void;
  /** The process dies during a write. */
  readonly onCut: (host: string) => void;
  readonly pass: (follower: Host, leader: string | null, command: Command) => Promise<Outcome>;
}

export function createServer(parts: ServerParts): SimulatedServer {
  const { world, network, name } = parts;
  const random = world.random(`server ${name}`);
  const historyDisk = emptyHistoryDisk();
  let skewMs = random.between(-1_000, 1_000);
  let lives = 0;
  let life: ServerProcess | null = null;
  /** An empty store where the member had a part of the cluster's. */
  let empty: MemoryStore | null = null;

  const clockOf = (host: Host): Clock => ({
    now: () => instant(Math.floor(parts.epochMs + world.now() + skewMs)),
    after: host.after,
    turn: () => host.wait(0),
    worked: world.now,
  });

  function start(): void {
    if (life !== null) return;
    lives += 1;
    const host = createHost(world, `${name}#${lives}`);
    const wire = openServerLog({
      ...parts,
      ...(empty === null ? null : { store: empty, onWon: () => undefined }),
      host,
      random,
    });
    const mine: ServerProcess = {
      host,
      wire,
      replica: null,
      leader: null,
      losePlanner: null,
      history: simulatedHistory(historyDisk, host, parts.messageFaults),
    };
    life = mine;
    open(mine).catch((error: unknown) => {
      if (host.alive()) parts.onFailed(server, error);
    });
  }

  async function open(mine: ServerProcess): Promise<void> {
    const { host, wire, history } = mine;
    const clock = clockOf(host);
    const logger = quietLogger(world, host.name);
    const { log } = wire;
    const archive = archiveTo(history, logger);
    const replica = await openReplica(log, archive, clock);
    mine.replica = replica;
    parts.onReplica(server, mine, replica);
    replica.failed.catch((error: unknown) => {
      if (host.alive()) parts.onFailed(server, error);
    });
    const expel = (): void => {
      if (host.alive()) parts.onExpelled(server);
    };
    const refuseEmptyLog = watchIdentity(parts.dataDir, replica, expel);
    const config = configWith(parts.external.receiver.hooks);
    const hub = createAgentHub(clock);
    const board = createCheckpointBoard();
    const broker = createBroker({
      view: () => replica.view,
      clock,
      board,
      config: () => config,
      evaluated: () => undefined,
    });
    const planner = createPlannerLink({
      start: simulatedPlanner(clock, {
        isConnected: hub.connected,
        onCycle: parts.onCycle,
        onStart: (lose) => {
          mine.losePlanner = lose;
        },
      }),
      replica,
      hub,
      clock,
      logger,
      metrics: noMetrics,
      measured: () => ({ signals: broker.signals(), stale: null }),
      settings: () => ({ budgetDays: config.scheduling.budgetPeriodDays, createTenants: true }),
    });
    const leader = startLeading({
      candidate: host.name,
      log,
      replica,
      hub,
      clock,
      logger,
      metrics: noMetrics,
      launches: { leave: () => undefined },
      config: () => config,
      fabric: parts.external.fabric.client(host),
      insight: {
        recordCycle: () => undefined,
        recordPlan: () => undefined,
        recordPreemption: () => undefined,
        onSignals: () => () => undefined,
        forget: () => undefined,
      },
      planner,
      broker,
      webhookWire: parts.external.receiver.wire(host),
      scaling: {
        reserved: (node) => isReserved(replica.view, planner.cycles.values(), node),
        readings: parts.external.metrics.readings(host),
      },
      readers: () => [],
      newClusterId: () => parts.clusterId ?? SIMULATED_CLUSTER,
      refuseEmptyLog,
      // The index that the server has applied; unit tests cover the stored position of real servers.
      async refuseShorterLog(end) {
        if (end >= replica.head().index) return;
        expel();
        throw new Error(`the log ends at entry ${end}, before entry ${replica.head().index}`);
      },
    });
    mine.leader = leader;
    const mayTake = () => leader.sequencer() !== null;
    const audit = { flush: async () => undefined };
    startSnapshotter({ log, replica, history, audit, logger, everyEntries: SETTINGS.snapshotEvery, mayTake });
    const context = {
      view: () => replica.view,
      chain: replica.chain,
      waitFor: replica.waitFor,
      propose: (command: Command) => proposeOwn(leader, command),
      hub,
      clock,
      logger,
      serverVersion: "simulated",
      heartbeatIntervalMs: SETTINGS.heartbeatMs,
      failures: () => failureRules(SETTINGS.faults),
      refusal: () => null,
      checkpoints: board,
    };
    network.listen(name, {
      host,
      accept: (stream) => {
        if (leader.sequencer() === null) refuseAgent(stream);
        else handleConnect(context, (parts.accepted?.(stream) ?? stream) as unknown as ConnectCall);
      },
    });
  }

  async function proposeOwn(leader: Leader, command: Command) {
    const isEmpty = empty !== null;
    const committed = await proposeTo(leader, command);
    if (isEmpty) world.violated("S10", `${name} has acknowledged a write to a log of its own`);
    return committed;
  }

  const server: SimulatedServer = {
    name,
    historyDisk,
    remembers: (id) => life?.history.knows(id) ?? historyDisk.records.has(id),
    life: () => life,
    leads: () => (life?.leader?.sequencer() ?? null) !== null,
    start,
    crash() {
      if (life === null) return;
      const { host, wire } = life;
      life = null;
      host.kill();
      wire.abandon();
      network.listen(name, null);
      network.gone("server", name, true);
    },
    jump(byMs) {
      skewMs += byMs;
    },
    loseMember(running) {
      empty = createMemoryStore();
      if (running) life?.wire.moveTo(empty);
      else server.crash();
    },
    replaceMember() {
      server.crash();
      empty = null;
      start();
    },
    lost: () => empty !== null,
    leadsAlone: () => server.leads() && empty?.election.leader()?.candidate === life?.host.name && empty !== null,
    async propose(command) {
      if (life === null || server.leads()) return server.commit(command);
      return parts.pass(life.host, life.wire.log.status().leader, command);
    },
    async commit(command) {
      const leader = life?.leader ?? null;
      if (leader === null) throw notLeader();
      return (await proposeOwn(leader, command)).outcome;
    },
  };
  return server;
}

/** Compares the identity in the log with the stored one, as a server does; returns the refusal of an empty log. */
function watchIdentity(dataDir: string | null, replica: Replica, expel: () => void): () => void {
  if (dataDir === null) return () => undefined;
  const own = openOwnCluster(dataDir);
  const orExpel = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (error instanceof ClusterMismatchError) expel();
      throw error;
    }
  };
  const meet = (): void => {
    const { identity } = replica.view;
    if (identity !== null) orExpel(() => own.meet(identity));
  };
  meet();
  replica.onApplied(meet);
  return () => orExpel(own.refuseEmptyLog);
}

/** The identity of the cluster under test. */
export const SIMULATED_CLUSTER = "c".repeat(32);

async function proposeTo(leader: Leader, command: Command) {
  const sequencer = leader.sequencer();
  if (sequencer === null) throw notLeader();
  return sequencer.propose(command);
}

const notLeader = () => new ProblemError("not_leader", { detail: "this server does not lead" });
