// Leading: campaign, catch up, then run the sequencer, the scheduler and the controllers until the
// leadership is lost; then campaign again. Everything that may exist only once in a cluster hangs
// on this loop. A clean stop resigns, so that another server takes over at once.

import { setMaxListeners } from "node:events";
import {
  type Applied,
  attemptOn,
  type ClusterLimits,
  type Duration,
  duration,
  type Effect,
  mayUseFabric,
  type NetworkSettings,
  type Retention,
  type VClusterId,
} from "@lattice/core";
import type { Logger } from "pino";
import { checkpointOrder } from "../agents/checkpoint-order.ts";
import type { AgentHub } from "../agents/hub.ts";
import { forgetOrder, runOrder, stopOrder } from "../agents/orders.ts";
import { type Clock, sleep, steadyNow } from "../clock.ts";
import type { CheckpointConfig } from "../config/checkpoint.ts";
import type { WebhookConfig } from "../config/notifications.ts";
import { type ControllerContext, runControllers } from "../controllers/act.ts";
import type { Broker } from "../controllers/checkpoint/act.ts";
import { runSchedule } from "../controllers/schedule/loop.ts";
import type { HookWire } from "../controllers/webhooks/wire.ts";
import type { Insight } from "../insight/index.ts";
import type { Leadership, ReplicatedLog } from "../log/replicated-log.ts";
import type { Metrics } from "../observe/index.ts";
import type { Replica } from "../replica/replica.ts";
import { bootstrap } from "./bootstrap.ts";
import { type Sequencer, startSequencer } from "./sequencer.ts";
import { stillLeads } from "./still-leads.ts";
import type { EntryReader } from "./versions.ts";

/** Pause after a failed turn at leading. */
const RETRY = duration(200);

export interface LeadOptions {
  /** How this server names itself in the election. */
  readonly candidate: string;
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly retention: Retention;
  readonly backfillDepth: number;
  readonly budgetDays: number;
  readonly minCycleGap: Duration;
  readonly heartbeatTimeout: Duration;
  readonly gracePeriod: Duration;
  readonly patience: ControllerContext["patience"];
  readonly faults: ControllerContext["faults"];
  readonly fabric: ControllerContext["fabric"];
  /** Which checkpoints stay, and for how long. */
  readonly checkpoints: Pick<CheckpointConfig, "keep" | "retention">;
  readonly insight: Pick<Insight, "took" | "planned" | "preempted" | "measured" | "onSignals" | "forget">;
  readonly webhooks: readonly WebhookConfig[];
  /** How they are reached; absent: by the platform. */
  readonly webhookWire?: HookWire;
  readonly network: NetworkSettings;
  /** Whether the cluster signs the tokens of its jobs itself. */
  readonly makesTokens: boolean;
  readonly limits: ClusterLimits;
  /** Where services may grow, and by what they are judged. */
  readonly scaling: ControllerContext["scaling"];
  readonly broker: Broker;
  /** Told when this server leads no more. */
  readonly launches: { leave(): void };
  /** The other servers that are there, and the newest entries that each can apply. */
  readonly readers: () => readonly EntryReader[];
}

export interface Leader {
  /** Null while another server leads, or none does. */
  sequencer(): Sequencer | null;
  /** Lets another server lead: this one if it is named, and can. False: this server does not lead. */
  stepDown(to: string | null): Promise<boolean>;
  /** Resolves when this server leads for the first time. */
  readonly led: Promise<void>;
  close(): Promise<void>;
}

export function startLeading(options: LeadOptions): Leader {
  const { log, replica, clock, logger } = options;
  const stop = new AbortController();
  let sequencer: Sequencer | null = null;
  let turn: { readonly over: AbortController; readonly ended: Promise<void> } | null = null;
  let leads: () => void = () => {};
  const led = new Promise<void>((resolve) => {
    leads = resolve;
  });
  const loop = run();

  return {
    sequencer: () => sequencer,
    async stepDown(to) {
      const current = turn;
      if (current === null) return false;
      if (to !== null) await log.shared?.favour(to);
      // Like a clean stop: what was proposed is answered before anyone else may lead.
      current.over.abort();
      await current.ended;
      return true;
    },
    led,
    async close() {
      stop.abort();
      await loop;
    },
  };

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const leadership = await log.campaign(options.candidate, stop.signal);
        const over = new AbortController();
        const ended = new AbortController();
        turn = { over, ended: once(ended.signal) };
        try {
          await reign(leadership, over.signal);
        } finally {
          turn = null;
          // Whatever ended it, catching up included: who keeps what it does not use keeps others from leading.
          await leadership.resign().finally(() => ended.abort());
        }
      } catch (error) {
        if (!stop.signal.aborted) logger.error({ err: error }, "leading failed; campaigning again");
      }
      await sleep(clock, RETRY, stop.signal);
    }
  }

  async function reign(leadership: Leadership, steppedDown: AbortSignal): Promise<void> {
    const over = AbortSignal.any([leadership.lost, stop.signal, steppedDown]);
    // Each controller waits on it, and none leaves anything behind: that they are many is no leak.
    setMaxListeners(0, over);
    await replica.waitFor(leadership.endsAt ?? (await log.head()), over);
    const active = startSequencer({
      log,
      replica,
      leadership,
      clock,
      readers: options.readers,
      onBatch: (commands, seconds) => options.metrics.logAppend(seconds, commands),
    });
    let judgingSince = steadyNow(clock);
    const unsubscribe = replica.onApplied((applied) => {
      perform(options, applied);
      // Nobody can have heard yet of nodes that came with a backup.
      if (applied.events.some(({ kind }) => kind === "cluster_restored")) judgingSince = steadyNow(clock);
    });
    try {
      await bootstrap(replica.view, active, { ...options, hooks: options.webhooks });
      judgingSince = steadyNow(clock);
      logger.info({ term: leadership.term, index: replica.head().index }, "leading");
      sequencer = active;
      leads();
      await Promise.all([
        runSchedule(
          {
            replica,
            sequencer: active,
            clock,
            logger,
            get minGap() {
              return options.minCycleGap;
            },
            hub: options.hub,
            onCycle: (result, seconds, { study, scoringSeconds }) => {
              options.metrics.schedulingCycle(result.vcluster, seconds, scoringSeconds);
              options.insight.took(result, study, seconds);
            },
            measured: options.insight.measured,
            onSignals: options.insight.onSignals,
            onPlan: (vcluster, result) => {
              options.metrics.schedulingPlan(vcluster, result);
              options.insight.planned(vcluster, result);
            },
            onPreempted: (vcluster, reason) => {
              options.metrics.schedulingPreemption(vcluster, reason);
              options.insight.preempted(vcluster as VClusterId);
            },
            budgetDays: options.budgetDays,
          },
          over,
        ),
        runControllers(
          {
            replica,
            sequencer: active,
            stillLeads: () => stillLeads({ log, replica, term: leadership.term, clock }, over),
            hub: options.hub,
            clock,
            logger,
            get leadingSince() {
              return judgingSince;
            },
            get heartbeatTimeout() {
              return options.heartbeatTimeout;
            },
            get gracePeriod() {
              return options.gracePeriod;
            },
            get patience() {
              return options.patience;
            },
            get faults() {
              return options.faults;
            },
            fabric: options.fabric,
            readers: options.readers,
            budgetDays: options.budgetDays,
            webhooks: options.webhooks,
            ...(options.webhookWire === undefined ? {} : { webhookWire: options.webhookWire }),
            metrics: options.metrics,
            scaling: options.scaling,
            broker: options.broker,
            get checkpoints() {
              return options.checkpoints;
            },
          },
          over,
        ),
      ]);
    } finally {
      sequencer = null;
      await active.close();
      logger.info({ term: leadership.term }, "no longer leading");
      // Nothing of this reign can be written any more: another may lead while the rest is put away.
      const resigned = leadership.resign();
      await clock.turn();
      unsubscribe();
      // Agents find the new leader by dialling again; what they were heard of here counts no more.
      options.launches.leave();
      options.hub.close();
      options.insight.forget();
      options.broker.forget();
      await resigned;
    }
  }
}

const once = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** Effects are performed only here, after the entry is durable; each is safe to repeat. */
function perform({ hub, replica, checkpoints }: LeadOptions, applied: Applied): void {
  for (const effect of applied.effects) send({ hub, replica, checkpoints }, effect);
}

function send(
  { hub, replica, checkpoints }: Pick<LeadOptions, "hub" | "replica" | "checkpoints">,
  effect: Effect,
): void {
  if (effect.kind === "stop") hub.send(effect.node, stopOrder(effect, effect.reason));
  if (effect.kind === "forget") hub.send(effect.node, forgetOrder(effect.allocation, effect.attempt));
  if (effect.kind !== "run" && effect.kind !== "checkpoint") return;
  const allocation = replica.view.allocation(effect.allocation);
  // A later command of the same entry may have ended the attempt again.
  if (allocation === undefined || attemptOn(allocation, effect.node) !== effect.attempt) return;
  if (effect.kind === "checkpoint") {
    const wanted = checkpointOrder(allocation, effect.node, checkpoints.keep);
    if (wanted !== null) hub.send(effect.node, wanted);
    return;
  }
  const ready = mayUseFabric(replica.view, allocation, effect.node);
  const order = ready ? runOrder(allocation, effect.node) : null;
  if (order !== null) hub.send(effect.node, order);
}
