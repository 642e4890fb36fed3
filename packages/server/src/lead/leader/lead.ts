// Leadership: campaigns, catches up with the log, and runs one term (sequencer, scheduler, controllers) until the
// leadership is lost; then campaigns again. Everything that may exist only once in a cluster runs inside a term. A clean
// stop resigns, so that another server takes over at once.

import { setMaxListeners } from "node:events";
import { attemptOn, duration, type Effect, type LogIndex } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, monotonicNow, sleep } from "../../base/clock.ts";
import type { Config } from "../../base/config/index.ts";
import type { Metrics } from "../../base/observe/index.ts";
import type { Leadership, ReplicatedLog } from "../../log/contract/replicated-log.ts";
import { checkpointOrder } from "../../nodes/agents/checkpoint-order.ts";
import type { AgentHub, ServerMessageBody } from "../../nodes/agents/hub.ts";
import { forgetOrder, runOrderIfReady, stopOrder } from "../../nodes/agents/orders.ts";
import type { Replica } from "../../state/replica/replica.ts";
import { type Sequencer, startSequencer } from "../commit/sequencer.ts";
import { stillLeads } from "../commit/still-leads.ts";
import type { EntryReader } from "../commit/versions.ts";
import { type AuditKeys, runAuditSigning, signCommitted } from "../controllers/audit/act.ts";
import type { Broker } from "../controllers/checkpoint/act.ts";
import type { ControllerContext } from "../controllers/context/context.ts";
import { runControllers } from "../controllers/run.ts";
import { runSchedule } from "../controllers/schedule/loop.ts";
import type { HookWire } from "../controllers/webhooks/wire.ts";
import type { Insight } from "../insight/index.ts";
import type { PlannerLink } from "../planner/link.ts";
import { bootstrap } from "./bootstrap.ts";

/** Pause between a term and the next campaign. */
const RETRY = duration(200);

export interface LeadOptions {
  /** The name of this server in the election. */
  readonly candidate: string;
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Returns the configuration in force. */
  readonly config: () => Config;
  readonly fabric: ControllerContext["fabric"];
  readonly insight: Pick<Insight, "recordCycle" | "recordPlan" | "recordPreemption" | "onSignals" | "forget">;
  readonly planner: Pick<PlannerLink, "open" | "close" | "ready" | "cycle">;
  /** Private keys of the audit log. Default: audit records are not signed. */
  readonly auditKeys?: AuditKeys;
  /** Transport of webhooks. Default: the platform's HTTP client. */
  readonly webhookWire?: HookWire;
  readonly scaling: ControllerContext["scaling"];
  readonly broker: Broker;
  readonly launches: { leave(): void };
  /** Throws when this server belongs to a cluster: an empty log would become another one. Default: any log is led. */
  readonly refuseEmptyLog?: () => void;
  /** Throws when the log ends before an entry that this server has applied. Default: any log is led. */
  readonly refuseShorterLog?: (end: LogIndex) => Promise<void>;
  /** Returns the identity of a new cluster. Default: random. */
  readonly newClusterId?: () => string;
  /** Returns why there is no space for new work; `null` while there is. Default: there always is. */
  readonly storageFull?: () => string | null;
  /** Returns the other servers with the newest entry version that each can apply. */
  readonly readers: () => readonly EntryReader[];
}

export interface Leader {
  /** `null` while this server does not lead. */
  sequencer(): Sequencer | null;
  /** Hands leadership over, to the named server if it can lead. Returns false when this server does not lead. */
  stepDown(to: string | null): Promise<boolean>;
  /** Resolves when this server leads for the first time. */
  readonly led: Promise<void>;
  close(): Promise<void>;
}

export function startLeading(options: LeadOptions): Leader {
  const { log, clock, logger } = options;
  const stop = new AbortController();
  let sequencer: Sequencer | null = null;
  let term: { readonly over: AbortController; readonly ended: Promise<void> } | null = null;
  let onFirstTerm: () => void = () => {};
  const led = new Promise<void>((resolve) => {
    onFirstTerm = resolve;
  });
  const loop = run();

  return {
    sequencer: () => sequencer,
    async stepDown(to) {
      const current = term;
      if (current === null) return false;
      if (to !== null) await log.shared?.favour(to);
      // As in a clean stop, proposals are answered before another server may lead.
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
        await serveTerm(await log.campaign(options.candidate, stop.signal));
      } catch (error) {
        if (!stop.signal.aborted) logger.error({ err: error }, "leader term failed: campaigning again");
      }
      await sleep(clock, RETRY, stop.signal);
    }
  }

  async function serveTerm(leadership: Leadership): Promise<void> {
    const over = new AbortController();
    const ended = new AbortController();
    term = { over, ended: once(ended.signal) };
    try {
      const signal = AbortSignal.any([leadership.lost, stop.signal, over.signal]);
      await lead(options, leadership, signal, (active) => {
        sequencer = active;
        if (active !== null) onFirstTerm();
      });
    } finally {
      term = null;
      // Also after a failure to catch up: an unused leadership would keep other servers from leading.
      await leadership.resign().finally(() => ended.abort());
    }
  }
}

/** Runs one term. `publish` receives the sequencer while commands may be proposed, and `null` afterwards. */
async function lead(
  options: LeadOptions,
  leadership: Leadership,
  over: AbortSignal,
  publish: (active: Sequencer | null) => void,
): Promise<void> {
  const { log, replica, clock, logger, metrics, planner, readers } = options;
  // Every controller waits on this signal and removes its listener; their number is not a leak.
  setMaxListeners(0, over);
  const end = leadership.endsAt ?? (await log.head());
  await options.refuseShorterLog?.(end);
  await replica.waitFor(end, over);
  const onBatch = (commands: number, seconds: number) => metrics.logAppend(seconds, commands);
  const { storageFull = () => null } = options;
  const sequencer = startSequencer({ log, replica, leadership, clock, readers, onBatch, storageFull });
  planner.open();
  // The loop of cycles may wait for an answer of the planner.
  over.addEventListener("abort", planner.close, { once: true });
  let leadingSince = monotonicNow(clock);
  const unsubscribe = replica.onApplied((applied) => {
    performEffects(options, applied.effects);
    // Nodes restored from a backup have had no chance to send a heartbeat.
    if (applied.events.some(({ kind }) => kind === "cluster_restored")) leadingSince = monotonicNow(clock);
  });
  try {
    if (replica.view.identity === null) options.refuseEmptyLog?.();
    await bootstrap(replica.view, sequencer, options.config(), options.newClusterId);
    const { auditKeys: keys } = options;
    const signing = keys === undefined ? null : { replica, sequencer, keys, clock, logger };
    if (signing !== null) await signCommitted(signing, over);
    leadingSince = monotonicNow(clock);
    logger.info({ term: leadership.term, index: replica.head().index }, "leading");
    publish(sequencer);
    const isLeader = () => stillLeads({ log, replica, term: leadership.term, clock }, over);
    await Promise.all([
      ...(signing === null ? [] : [runAuditSigning(signing, over)]),
      runSchedule({ ...options, sequencer, ...observers(options) }, over),
      runControllers({ ...options, sequencer, stillLeads: isLeader, leadingSince: () => leadingSince }, over),
    ]);
  } finally {
    publish(null);
    planner.close();
    over.removeEventListener("abort", planner.close);
    await sequencer.close();
    logger.info({ term: leadership.term }, "no longer leading");
    // This term can write nothing more, so another server may lead while the rest is closed.
    const resigned = leadership.resign();
    await clock.turn();
    unsubscribe();
    forgetAgents(options);
    await resigned;
  }
}

const observers = ({ metrics, insight }: LeadOptions): Observers => ({
  onSignals: insight.onSignals,
  onCycle: (cycle) => {
    metrics.schedulingCycle(cycle.vcluster, cycle.costMs / 1000, cycle.scoringMs / 1000);
    insight.recordCycle(cycle);
  },
  onPlan: (vcluster, result) => {
    metrics.schedulingPlan(vcluster, result);
    insight.recordPlan(vcluster, result);
  },
  onPreempted: (vcluster, reason) => {
    metrics.schedulingPreemption(vcluster, reason);
    insight.recordPreemption(vcluster);
  },
});

type Observers = Pick<Parameters<typeof runSchedule>[0], "onSignals" | "onCycle" | "onPlan" | "onPreempted">;

/** Agents dial the new leader; what this server knew from them is no longer valid. */
function forgetAgents({ launches, hub, insight, broker }: LeadOptions): void {
  launches.leave();
  hub.close();
  insight.forget();
  broker.forget();
}

const once = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

interface EffectContext {
  readonly hub: AgentHub;
  readonly replica: Pick<Replica, "view">;
  readonly config: () => Config;
}

/**
 * Performs the effects of an applied, durable entry: orders to agents. Every effect may be repeated. Orders are derived
 * from the state, as when a node reconnects, so that a repeated order is the same.
 */
function performEffects(context: EffectContext, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== "run" && effect.kind !== "stop" && effect.kind !== "forget" && effect.kind !== "checkpoint")
      continue;
    const order = orderFor(context, effect);
    if (order !== null) context.hub.send(effect.node, order);
  }
}

type OrderEffect = Extract<Effect, { readonly kind: "run" | "stop" | "forget" | "checkpoint" }>;

function orderFor({ replica, config }: EffectContext, effect: OrderEffect): ServerMessageBody | null {
  if (effect.kind === "stop") return stopOrder(effect, effect.reason);
  if (effect.kind === "forget") return forgetOrder(effect.allocation, effect.attempt);
  const allocation = replica.view.allocation(effect.allocation);
  // A later command of the same entry may have ended the attempt.
  if (allocation === undefined || attemptOn(allocation, effect.node) !== effect.attempt) return null;
  return effect.kind === "checkpoint"
    ? checkpointOrder(allocation, effect.node, config().checkpoint.keep)
    : runOrderIfReady(replica.view, allocation, effect.node);
}
