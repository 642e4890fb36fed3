// One server of the simulated cluster and its lives: the real replica, leader, controllers, hub and
// agents' door, over the simulated log and network. Only the leader serves agents and users; the
// others refuse, and their callers try the next.

import { type AllocationId, type Command, DEFAULT_NETWORK, duration, instant, type Outcome } from "@lattice/core";
import {
  archiveTo,
  type Clock,
  type ConnectCall,
  createAgentHub,
  createBroker,
  createCheckpointBoard,
  failureRules,
  handleConnect,
  isPromised,
  type Leader,
  type LeadOptions,
  type MemoryStore,
  openReplica,
  type Replica,
  refuseAgent,
  startLeading,
  startSnapshotter,
} from "@lattice/server";
import { ProblemError } from "@lattice/wire";
import type { BackfillCheck } from "../checks/backfill.ts";
import type { Odds } from "../faults/odds.ts";
import type { Network } from "../network/network.ts";
import type { Outside } from "../outside/outside.ts";
import { createHost, type Host } from "../world/host.ts";
import { quietLogger } from "../world/logger.ts";
import type { World } from "../world/world.ts";
import { emptyShelf, type Shelf, type ShelfHistory, shelfHistory } from "./history.ts";
import { type LogWeather, openServerLog, type ServerLog } from "./log.ts";
import { noMetrics } from "./metrics.ts";

export const SETTINGS = {
  heartbeatMs: 10_000,
  timeoutMs: 30_000,
  graceMs: 60_000,
  /** As the controllers have it. */
  borrowedGraceMs: 30_000,
  snapshotEvery: 150,
  /** Nodes fail often enough that the broker asks now and then. */
  checkpoints: {
    interval: duration(30_000),
    bytesPerSecond: 1e9,
    gpuMemoryBytes: 1e9,
    keep: 3,
    retention: duration(0),
    rates: { nodeMtbfSeconds: 3_600, storageSecondsPerGb: 0, quietSeconds: 120 },
  },
  patience: {
    borrowedGracePeriod: duration(30_000),
    sensitiveHeartbeatTimeout: duration(120_000),
    sensitiveGracePeriod: duration(300_000),
  },
  faults: {
    failures: 3,
    quick: duration(10_000),
    prologueRetries: 3,
    mostPercent: 30,
    probation: duration(600_000),
    driftTimeout: duration(60_000),
    sensitiveDriftTimeout: duration(30_000),
  },
  /** So few numbers that they are used up now and then. */
  network: {
    ...DEFAULT_NETWORK,
    vniStart: 1_000,
    vniEnd: 1_010,
    grace: duration(20_000),
    autoDomains: true,
    managed: true,
  },
  /** Fewer than are at home there. */
  limits: { sensitivePoolSize: 2 },
  retention: { maxFinished: 40, maxFinishedAge: duration(600_000) },
} as const;

/** One life of a server. */
export interface ServerLife {
  readonly host: Host;
  readonly wire: ServerLog;
  /** Null until it has caught up with the newest snapshot. */
  replica: Replica | null;
  leader: Leader | null;
  readonly history: ShelfHistory;
}

export interface SimulatedServer {
  readonly name: string;
  readonly shelf: Shelf;
  /** Whether this server's history can answer for it: durable, or, while the process lives, on its way there. */
  remembers(id: AllocationId): boolean;
  life(): ServerLife | null;
  leads(): boolean;
  start(): void;
  crash(): void;
  jump(byMs: number): void;
  /** By this server if it leads, else passed on to whoever it takes for the leader. */
  propose(command: Command): Promise<Outcome>;
  /** By this server, or not at all. */
  commit(command: Command): Promise<Outcome>;
}

export interface ServerParts {
  readonly world: World;
  readonly network: Network;
  readonly store: MemoryStore;
  readonly weather: LogWeather;
  readonly epochMs: number;
  readonly name: string;
  readonly outside: Outside;
  readonly onReplica: (server: SimulatedServer, life: ServerLife, replica: Replica) => void;
  readonly onFailed: (server: SimulatedServer, error: unknown) => void;
  readonly odds: Odds;
  readonly onCycle: BackfillCheck["cycle"];
  readonly onWon: (term: number) => void;
  /** The process dies in the middle of a write. */
  readonly onCut: (host: string) => void;
  readonly pass: (follower: Host, leader: string | null, command: Command) => Promise<Outcome>;
}

export function createServer(parts: ServerParts): SimulatedServer {
  const { world, network, name } = parts;
  const random = world.random(`server ${name}`);
  const shelf = emptyShelf();
  let skewMs = random.between(-1_000, 1_000);
  let lives = 0;
  let life: ServerLife | null = null;

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
    const wire = openServerLog({ ...parts, host, random });
    const mine: ServerLife = {
      host,
      wire,
      replica: null,
      leader: null,
      history: shelfHistory(shelf, host, parts.odds),
    };
    life = mine;
    open(mine).catch((error: unknown) => {
      if (host.alive()) parts.onFailed(server, error);
    });
  }

  async function open(mine: ServerLife): Promise<void> {
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
    const hub = createAgentHub(clock);
    const board = createCheckpointBoard();
    const broker = createBroker({
      view: () => replica.view,
      clock,
      board,
      config: () => SETTINGS.checkpoints,
      evaluated: () => undefined,
    });
    const cycles = new Map<string, Parameters<LeadOptions["insight"]["took"]>[0]>();
    const leader = startLeading({
      candidate: host.name,
      log,
      replica,
      hub,
      clock,
      logger,
      metrics: noMetrics,
      launches: { leave: () => undefined },
      retention: SETTINGS.retention,
      backfillDepth: 10,
      budgetDays: 90,
      minCycleGap: duration(250),
      heartbeatTimeout: duration(SETTINGS.timeoutMs),
      gracePeriod: duration(SETTINGS.graceMs),
      patience: SETTINGS.patience,
      faults: SETTINGS.faults,
      fabric: parts.outside.fabric.client(host),
      checkpoints: SETTINGS.checkpoints,
      insight: {
        took(result) {
          cycles.set(result.vcluster, result);
          parts.onCycle(replica.view, result, clock.now());
        },
        planned: () => undefined,
        preempted: () => undefined,
        measured: () => ({ signals: broker.signals() }),
        onSignals: () => () => undefined,
        forget: () => cycles.clear(),
      },
      broker,
      webhooks: parts.outside.receiver.hooks,
      webhookWire: parts.outside.receiver.wire(host),
      network: SETTINGS.network,
      makesTokens: false,
      limits: SETTINGS.limits,
      scaling: {
        promised: (node) => isPromised(replica.view, cycles.values(), node),
        readings: parts.outside.metrics.readings(host),
      },
      readers: () => [],
    });
    mine.leader = leader;
    const mayTake = () => leader.sequencer() !== null;
    const audit = { flush: async () => undefined };
    startSnapshotter({ log, replica, history, audit, logger, everyEntries: SETTINGS.snapshotEvery, mayTake });
    const context = {
      view: () => replica.view,
      propose: (command: Command) => proposeTo(leader, command),
      hub,
      clock,
      logger,
      serverVersion: "simulated",
      heartbeatIntervalMs: SETTINGS.heartbeatMs,
      failures: () => failureRules(SETTINGS.faults),
      stranger: () => null,
      checkpoints: board,
    };
    network.listen(name, {
      host,
      accept: (stream) => {
        if (leader.sequencer() === null) refuseAgent(stream);
        else handleConnect(context, stream as unknown as ConnectCall);
      },
    });
  }

  const server: SimulatedServer = {
    name,
    shelf,
    remembers: (id) => life?.history.knows(id) ?? shelf.records.has(id),
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
    async propose(command) {
      if (life === null || server.leads()) return server.commit(command);
      return parts.pass(life.host, life.wire.log.status().leader, command);
    },
    async commit(command) {
      const leader = life?.leader ?? null;
      if (leader === null) throw notLeader();
      return (await proposeTo(leader, command)).outcome;
    },
  };
  return server;
}

async function proposeTo(leader: Leader, command: Command) {
  const sequencer = leader.sequencer();
  if (sequencer === null) throw notLeader();
  return sequencer.propose(command);
}

const notLeader = () => new ProblemError("not_leader", { detail: "this server does not lead" });
