// Carries out what the deciding files return: proposes their commands, sends their orders. Every
// act may be repeated after a crash; `apply` and the agents take repetitions in their stride.

import { type Duration, duration, type Instant, LEDGER_VERSION } from "@lattice/core";
import type { Logger } from "pino";
import type { AgentHub } from "../agents/hub.ts";
import { orderOf } from "../agents/orders.ts";
import { type Clock, steadyNow } from "../clock.ts";
import type { CheckpointConfig } from "../config/checkpoint.ts";
import type { Config } from "../config/config.ts";
import type { FaultsConfig } from "../config/faults.ts";
import type { WebhookConfig } from "../config/notifications.ts";
import type { FabricDomains } from "../fabric/domains.ts";
import type { Sequencer } from "../leader/sequencer.ts";
import type { EntryReader } from "../leader/versions.ts";
import type { Metrics } from "../observe/index.ts";
import type { Replica } from "../replica/replica.ts";
import { decideBudgets } from "./budgets/decide.ts";
import type { Broker } from "./checkpoint/act.ts";
import { createClearer } from "./clearings/act.ts";
import { decideFaults } from "./faults/decide.ts";
import { decideHealth } from "./health/decide.ts";
import { decideLedger } from "./ledger/decide.ts";
import { createNetworkKeeper } from "./networks/act.ts";
import { decideOverdue, type FirstWaiting } from "./orders/decide.ts";
import { type Beat, keepBeat } from "./periodic.ts";
import { decideRestarts } from "./restarts/decide.ts";
import { createScaler, type ScalingContext } from "./scaling/act.ts";
import { telemetryBeat } from "./telemetry/act.ts";
import { decideExpired, type FirstSeen } from "./walltime/decide.ts";
import { createWebhookSender } from "./webhooks/act.ts";
import type { HookWire } from "./webhooks/wire.ts";

/** How far past its walltime, grace included, an attempt may be before the server ends it. */
const WALLTIME_MARGIN = duration(60_000);
/** How long a node may take to answer an order before it is said again. */
const ORDER_PATIENCE = duration(15_000);
/** How long an upgrade may still be taken back once every server has it. */
const LEDGER_SETTLE = duration(600_000);

export interface ControllerContext {
  readonly replica: Replica;
  readonly sequencer: Sequencer;
  /** Asked of the log; false too when it cannot be known. */
  readonly stillLeads: () => Promise<boolean>;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  /** On the steady clock. */
  readonly leadingSince: Instant;
  readonly heartbeatTimeout: Duration;
  readonly gracePeriod: Duration;
  /** Of nodes that are lent, and of those for sensitive work. */
  readonly patience: Patience;
  readonly faults: FaultsConfig;
  /** Null: nobody manages the fabric. */
  readonly fabric: FabricDomains | null;
  readonly broker: Broker;
  readonly checkpoints: Pick<CheckpointConfig, "retention">;
  /** The other servers that are there, and the newest entries that each can apply. */
  readonly readers: () => readonly EntryReader[];
  readonly budgetDays: number;
  readonly webhooks: readonly WebhookConfig[];
  /** How they are reached; absent: by the platform. */
  readonly webhookWire?: HookWire;
  readonly metrics: Pick<Metrics, "webhook" | "scaled" | "metricQueryFailed">;
  readonly scaling: Pick<ScalingContext, "promised" | "readings" | "probed">;
}

/** As in the configuration. */
export type Patience = Pick<
  Config["nodeAgent"],
  "borrowedGracePeriod" | "sensitiveHeartbeatTimeout" | "sensitiveGracePeriod"
>;

export async function runControllers(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { replica, sequencer, hub, clock, logger } = context;
  const view = () => replica.view;

  const health: Beat = {
    name: "health",
    every: duration(Math.max(20, Math.min(1_000, Math.floor(context.heartbeatTimeout / 4)))),
    turn: async () => {
      const verdicts = decideHealth(replica.view, {
        // A jump of the time of day is no silence of anybody.
        now: steadyNow(clock),
        leadingSince: context.leadingSince,
        lastHeard: hub.lastHeardSteady,
        timeout: context.heartbeatTimeout,
        grace: context.gracePeriod,
        borrowedGrace: context.patience.borrowedGracePeriod,
        sensitive: {
          timeout: context.patience.sensitiveHeartbeatTimeout,
          grace: context.patience.sensitiveGracePeriod,
        },
      });
      for (const verdict of verdicts) logger.info({ node: verdict.node, verdict: verdict.verdict }, verdict.reason);
      await Promise.all(verdicts.map((verdict) => sequencer.propose(verdict)));
      // A stream that outlived the node's silence must not heal it without a reconciliation.
      for (const { node, verdict } of verdicts)
        if (verdict === "silent") hub.drop(node, "the node was silent for too long");
    },
  };
  let running: FirstSeen = new Map();
  const walltime: Beat = {
    name: "walltime",
    every: duration(5_000),
    turn: async () => {
      const verdict = decideExpired(replica.view, { now: steadyNow(clock), seen: running, margin: WALLTIME_MARGIN });
      running = verdict.seen;
      await Promise.all(verdict.expired.map((command) => sequencer.propose(command)));
    },
  };
  let waiting: FirstWaiting = new Map();
  const orders: Beat = {
    name: "orders",
    every: duration(5_000),
    turn: async () => {
      const inputs = { now: steadyNow(clock), seen: waiting, patience: ORDER_PATIENCE };
      const { overdue, seen } = decideOverdue(replica.view, inputs);
      waiting = seen;
      for (const { node, claim } of overdue) {
        const order = orderOf(replica.view, node, claim);
        if (order !== null) hub.send(node, order);
      }
    },
  };
  let knownSince: Instant | null = null;
  const ledger: Beat = {
    name: "ledger",
    every: duration(60_000),
    turn: async () => {
      const readers = context.readers();
      const inputs = { now: steadyNow(clock), readers, since: knownSince, settle: LEDGER_SETTLE };
      const { since, command } = decideLedger(replica.view, inputs);
      knownSince = since;
      if (command !== null) await sequencer.propose(command);
    },
  };
  const budgets: Beat = {
    name: "budgets",
    every: duration(30_000),
    turn: async () => {
      const inputs = { now: clock.now(), periodDays: context.budgetDays };
      const commands = view().version < LEDGER_VERSION ? [] : decideBudgets(view(), inputs);
      await Promise.all(commands.map((command) => sequencer.propose(command)));
    },
  };
  const webhooks: Beat = {
    name: "webhooks",
    every: duration(500),
    turn: createWebhookSender({ ...context, hooks: context.webhooks, count: context.metrics.webhook }, signal),
  };
  const restarts: Beat = {
    name: "restarts",
    every: duration(250),
    turn: async () => {
      await Promise.all(decideRestarts(view(), clock.now()).map((command) => sequencer.propose(command)));
    },
  };
  const scaling: Beat = {
    name: "scaling",
    every: duration(1_000),
    turn: createScaler({ ...context, ...context.scaling, reachable: hub.connected }, signal),
  };
  const networks: Beat = {
    name: "networks",
    // Whoever begins in a domain waits for the fabric's word.
    every: duration(context.fabric === null ? 1_000 : 100),
    turn: createNetworkKeeper({ ...context, view }, signal),
  };
  const faults: Beat = {
    name: "faults",
    every: duration(1_000),
    turn: async () => {
      for (const command of decideFaults(view(), { now: clock.now(), faults: context.faults })) {
        const { outcome } = await sequencer.propose(command);
        const facts = { node: command.node, ...("reason" in command ? { reason: command.reason } : {}) };
        if (outcome.kind === "rejected") logger.warn({ ...facts, refusal: outcome.refusal }, "a node stays in service");
        else logger.warn(facts, command.kind === "node.probe" ? "a node is tried again" : "a node is set aside");
      }
    },
  };
  const clearings: Beat = { name: "clearings", every: duration(2_000), turn: createClearer(context) };
  const beats = [
    clearings,
    telemetryBeat({ view, hub, clock }, signal),
    faults,
    networks,
    health,
    walltime,
    orders,
    ledger,
    budgets,
    restarts,
    scaling,
    ...context.broker.beats({ sequencer, hub, logger }),
    ...(context.webhooks.length === 0 ? [] : [webhooks]),
  ];
  await Promise.all(beats.map((beat) => keepBeat(beat, clock, logger, signal)));
}
