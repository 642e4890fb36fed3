// Has cycles planned: at once after a relevant event, and on each vCluster's interval. One cycle at a time; a plan is
// committed before the next cycle takes its snapshot, so that no cycle plans with nodes that another has just taken.
// Between cycles the loop rests in proportion to the cost of the last one.

import {
  type Duration,
  duration,
  type Instant,
  type Placement,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import { hasNothingToDo, mayPlaceBehind } from "@lattice/scheduler";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { Config } from "../../../base/config/index.ts";
import type { PlanResult } from "../../../base/observe/scheduling.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { PlannerLink } from "../../planner/link.ts";
import type { PublishedCycle } from "../../planner/published.ts";
import { carryOutPreemptions } from "../preempt/act.ts";
import { planResult } from "./plan-result.ts";
import { wakeupOf } from "./wakeups.ts";

/** Between cycles the loop rests this many times the cost of a cycle. */
const REST_FACTOR = 2;
const MAX_REST_MS = 1_000;
const MIN_IDLE_MS = 10;
const MAX_IDLE_MS = 30_000;
/** Placements in one command: applying them and sending their orders takes some milliseconds. */
const PLACEMENTS_PER_COMMAND = 64;

interface ScheduleContext {
  readonly replica: Replica;
  readonly sequencer: Sequencer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The configuration in force. */
  readonly config: () => Pick<Config, "scheduling">;
  /** A node without a stream cannot receive orders; the health controller judges it later. */
  readonly hub: Pick<AgentHub, "onConnect">;
  readonly planner: Pick<PlannerLink, "ready" | "cycle">;
  readonly onCycle: (cycle: PublishedCycle) => void;
  /** Calls back after new signals. */
  readonly onSignals: (listener: () => void) => () => void;
  readonly onPlan: (vcluster: VClusterId, result: PlanResult) => void;
  readonly onPreempted: (vcluster: VClusterId, reason: string) => void;
}

/** The state of the loop between cycles. */
interface Loop {
  readonly context: ScheduleContext;
  readonly signal: AbortSignal;
  /** When the next full report of each vCluster is due. */
  readonly reportDueAt: Map<VClusterId, number>;
  /** vClusters that need a cycle. */
  readonly due: Set<VClusterId>;
  readonly ranAt: Map<VClusterId, Instant>;
  /** vClusters whose next full report has a timer. */
  readonly reportsScheduled: Set<VClusterId>;
  /** Ends the current sleep. */
  wake: () => void;
}

export async function runSchedule(context: ScheduleContext, signal: AbortSignal): Promise<void> {
  const loop: Loop = {
    context,
    signal,
    reportDueAt: new Map(),
    due: new Set(),
    ranAt: new Map(),
    reportsScheduled: new Set(),
    wake: () => {},
  };
  const unsubscribe = subscribe(loop);
  signal.addEventListener("abort", () => loop.wake(), { once: true });
  markAll(loop);
  while (!signal.aborted) await runDueCycles(loop);
  unsubscribe();
}

function mark({ due, wake }: Loop, vcluster: VClusterId): void {
  due.add(vcluster);
  wake();
}

function markAll(loop: Loop): void {
  for (const { id } of loop.context.replica.view.vclusters()) mark(loop, id);
}

/** Marks vClusters as due after events, new connections and new signals. Returns a function that unsubscribes. */
function subscribe(loop: Loop): () => void {
  const { replica, hub, onSignals } = loop.context;
  const subscriptions = [
    replica.feed.onEvents((events) => {
      for (const { event } of events) {
        const wakeup = wakeupOf(event);
        if (wakeup?.kind === "one") mark(loop, wakeup.vcluster);
        if (wakeup?.kind === "all") markAll(loop);
      }
    }),
    hub.onConnect((node) => {
      // Many busy nodes may reconnect together; they offer nothing to plan with.
      if (replica.view.node(node)?.claims.length === 0) markAll(loop);
    }),
    // A budget with new headroom may let an allocation start.
    onSignals(() => markAll(loop)),
  ];
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  };
}

/** Waits until a vCluster is due, runs the due cycles, and rests. */
async function runDueCycles(loop: Loop): Promise<void> {
  const { context, signal, due, ranAt } = loop;
  const { replica, clock, logger } = context;
  if (due.size === 0) await idle(loop);
  // Further events of this turn of the event loop belong to the same cycle.
  await clock.turn();
  await context.planner.ready(signal);
  const began = clock.worked();
  for (const vcluster of [...replica.view.vclusters()].filter(({ id }) => due.has(id))) {
    due.delete(vcluster.id);
    ranAt.set(vcluster.id, clock.now());
    if (signal.aborted || (canStartNothing(replica.view, vcluster) && !isReportDue(loop, vcluster))) continue;
    await runCycle(loop, vcluster).catch((error) => {
      if (signal.aborted) return;
      logger.warn({ err: error, vcluster: vcluster.id }, "plan not committed; trying again");
      clock.after(duration(250), () => mark(loop, vcluster.id));
    });
  }
  const restMs = Math.min((clock.worked() - began) * REST_FACTOR, MAX_REST_MS);
  await sleep(clock, duration(Math.ceil(Math.max(context.config().scheduling.minCycleMs, restMs))), signal);
}

const canStartNothing = (view: View, vcluster: VCluster): boolean =>
  hasNothingToDo(view, vcluster) && !mayPlaceBehind(view, vcluster);

/** Nothing can start. New allocations appear in the report as soon as the next one is due. */
function isReportDue(loop: Loop, vcluster: VCluster): boolean {
  const { reportDueAt, reportsScheduled, context } = loop;
  const isEmpty = context.replica.view.pendingCount(vcluster.id) === 0;
  const at = isEmpty ? null : (reportDueAt.get(vcluster.id) ?? 0);
  const wait = at === null ? null : at - context.clock.now();
  if (wait === null || wait <= 0) return wait !== null;
  if (!reportsScheduled.has(vcluster.id)) {
    reportsScheduled.add(vcluster.id);
    context.clock.after(duration(Math.ceil(wait)), () => {
      reportsScheduled.delete(vcluster.id);
      mark(loop, vcluster.id);
    });
  }
  return false;
}

async function runCycle({ context, reportDueAt }: Loop, { id }: VCluster): Promise<void> {
  const cycle = await context.planner.cycle(id, context.clock.now());
  if (cycle === null) return;
  reportDueAt.set(id, cycle.reportDueAt ?? 0);
  context.onCycle(cycle);
  for (let at = 0; at < cycle.placements.length; at += PLACEMENTS_PER_COMMAND)
    await commitPlan(context, cycle, cycle.placements.slice(at, at + PLACEMENTS_PER_COMMAND));
  await carryOutPreemptions(context, cycle);
}

async function commitPlan(
  { sequencer, logger, onPlan }: ScheduleContext,
  { vcluster, basis }: PublishedCycle,
  placements: readonly Placement[],
): Promise<void> {
  const { outcome } = await sequencer.propose({ kind: "plan.commit", vcluster, basis, placements });
  onPlan(vcluster, planResult(placements, outcome));
  if (outcome.kind === "rejected") {
    logger.warn({ vcluster, refusal: outcome.refusal }, "plan rejected");
    return;
  }
  for (const { allocation, refusal } of outcome.placements ?? [])
    if (refusal !== null) logger.debug({ allocation, refusal }, "placement rejected");
}

/** Sleeps until an event wakes the loop or a vCluster's interval has passed. */
async function idle(loop: Loop): Promise<void> {
  const { context, signal, due, ranAt } = loop;
  const { replica, clock } = context;
  const pause = new AbortController();
  // A reason of its own: the default one, with its stack, costs more than the wait.
  const wake = () => pause.abort("woken");
  loop.wake = wake;
  signal.addEventListener("abort", wake, { once: true });
  await sleep(clock, untilNextInterval(loop), pause.signal);
  signal.removeEventListener("abort", wake);
  loop.wake = () => {};
  const now = clock.now();
  for (const vcluster of replica.view.vclusters()) {
    if (now >= (ranAt.get(vcluster.id) ?? 0) + vcluster.cycleInterval) due.add(vcluster.id);
  }
}

function untilNextInterval({ context, ranAt }: Loop): Duration {
  const now = context.clock.now();
  let wait = MAX_IDLE_MS;
  for (const vcluster of context.replica.view.vclusters()) {
    wait = Math.min(wait, (ranAt.get(vcluster.id) ?? 0) + vcluster.cycleInterval - now);
  }
  return duration(Math.max(MIN_IDLE_MS, wait));
}
