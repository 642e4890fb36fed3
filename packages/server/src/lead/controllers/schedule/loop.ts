// Runs scheduling cycles: at once after a relevant event, and on each vCluster's interval. One cycle at a time; a plan
// is committed before the next cycle takes its snapshot, so that no cycle plans with nodes that another has just taken.
// Between cycles the loop rests in proportion to the cost of the last one.

import { type Duration, duration, type Instant, type VCluster, type VClusterId } from "@lattice/core";
import { type CycleRecord, type CycleResult, hasNothingToDo, recordCycle, snapshotFor } from "@lattice/scheduler";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { Config } from "../../../base/config/index.ts";
import type { PlanResult } from "../../../base/observe/scheduling.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Measured } from "../../insight/index.ts";
import { carryOutPreemptions } from "../preempt/act.ts";
import { createScheduleMemory } from "./memory.ts";
import { planResult } from "./plan-result.ts";
import { wakeupOf } from "./wakeups.ts";

/** Between cycles the loop rests this many times the cost of a cycle. */
const REST_FACTOR = 2;

export interface ScheduleContext {
  readonly replica: Replica;
  readonly sequencer: Sequencer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The configuration in force. */
  readonly config: () => Pick<Config, "scheduling">;
  /** A node without a stream cannot receive orders; the health controller judges it later. */
  readonly hub: Pick<AgentHub, "connected" | "onConnect">;
  readonly onCycle: (result: CycleResult, seconds: number, details: CycleDetails) => void;
  /** Inputs that are measured, not replicated. */
  readonly measuredInputs: (now: Instant) => Measured;
  /** Calls back after new signals. */
  readonly onSignals: (listener: () => void) => () => void;
  readonly onPlan: (vcluster: VClusterId, result: PlanResult) => void;
  readonly onPreempted: (vcluster: VClusterId, reason: string) => void;
}

export interface CycleDetails {
  /** For explanations of the cycle. */
  readonly record: CycleRecord | null;
  /** Seconds spent on the cost function; 0 when it was not needed. */
  readonly scoringSeconds: number;
}

export async function runSchedule(context: ScheduleContext, signal: AbortSignal): Promise<void> {
  const { replica, clock, logger, hub } = context;
  const due = new Set<VClusterId>();
  const ranAt = new Map<VClusterId, Instant>();
  const memory = createScheduleMemory(() => replica.view);
  const reportsScheduled = new Set<VClusterId>();
  let wake: () => void = () => {};
  const mark = (vcluster: VClusterId) => {
    due.add(vcluster);
    wake();
  };
  const markAll = () => {
    for (const vcluster of replica.view.vclusters()) mark(vcluster.id);
  };
  const unsubscribe = replica.feed.onEvents((events) => {
    for (const { event } of events) {
      const wakeup = wakeupOf(event);
      if (wakeup?.kind === "one") mark(wakeup.vcluster);
      if (wakeup?.kind === "all") markAll();
    }
  });
  const forget = hub.onConnect((node) => {
    // Many busy nodes may reconnect together; they offer nothing to plan with.
    if (replica.view.node(node)?.claims.length === 0) markAll();
  });
  // A budget with new headroom may let an allocation start.
  const ignore = context.onSignals(markAll);
  signal.addEventListener("abort", () => wake(), { once: true });
  markAll();

  while (!signal.aborted) {
    if (due.size === 0) await idle();
    // Further events of this turn of the event loop belong to the same cycle.
    await clock.turn();
    const began = clock.worked();
    for (const vcluster of ordered(due)) {
      due.delete(vcluster.id);
      ranAt.set(vcluster.id, clock.now());
      if (signal.aborted || (hasNothingToDo(replica.view, vcluster) && !isReportDue(vcluster))) continue;
      await runCycle(vcluster).catch((error) => {
        if (signal.aborted) return;
        logger.warn({ err: error, vcluster: vcluster.id }, "plan not committed; trying again");
        clock.after(duration(250), () => mark(vcluster.id));
      });
    }
    const cost = clock.worked() - began;
    await sleep(
      clock,
      duration(Math.ceil(Math.max(context.config().scheduling.minCycleMs, Math.min(cost * REST_FACTOR, 1_000)))),
      signal,
    );
  }
  unsubscribe();
  forget();
  ignore();

  /** Nothing can start. New allocations appear in the report as soon as the next one is due. */
  function isReportDue(vcluster: VCluster): boolean {
    const at = memory.reportDueAt(vcluster);
    const wait = at === null ? null : at - clock.now();
    if (wait === null || wait <= 0) return wait !== null;
    if (!reportsScheduled.has(vcluster.id)) {
      reportsScheduled.add(vcluster.id);
      clock.after(duration(Math.ceil(wait)), () => {
        reportsScheduled.delete(vcluster.id);
        mark(vcluster.id);
      });
    }
    return false;
  }

  async function runCycle(vcluster: VCluster): Promise<void> {
    const began = clock.worked();
    const now = clock.now();
    let scoringMs = 0;
    const { result, record } = recordCycle(
      snapshotFor(replica.view, vcluster, now, hub.connected, {
        ...memory.externalInputs(vcluster, now),
        ...context.measuredInputs(now),
        budgetDays: context.config().scheduling.budgetPeriodDays,
        timed(_what, run) {
          const start = clock.worked();
          const made = run();
          scoringMs += clock.worked() - start;
          return made;
        },
      }),
    );
    const costMs = clock.worked() - began;
    context.onCycle(memory.recordResult(result, now, costMs), costMs / 1000, {
      record: record,
      scoringSeconds: scoringMs / 1000,
    });
    if (result.placements.length > 0) await commitPlan(vcluster, result);
    await carryOutPreemptions(context, result);
  }

  async function commitPlan(vcluster: VCluster, result: CycleResult): Promise<void> {
    const { outcome } = await context.sequencer.propose({
      kind: "plan.commit",
      vcluster: vcluster.id,
      basis: result.basis,
      placements: result.placements,
    });
    context.onPlan(vcluster.id, planResult(result.placements, outcome));
    if (outcome.kind === "rejected") {
      logger.warn({ vcluster: vcluster.id, refusal: outcome.refusal }, "plan refused");
      return;
    }
    const refused = outcome.placements?.filter((placement) => placement.refusal !== null) ?? [];
    for (const one of refused) logger.debug({ allocation: one.allocation, refusal: one.refusal }, "placement refused");
  }

  /** Sleeps until an event wakes the loop or a vCluster's interval has passed. */
  async function idle(): Promise<void> {
    const pause = new AbortController();
    // A reason of its own: the default one, with its stack, costs more than the wait.
    wake = () => pause.abort("woken");
    signal.addEventListener("abort", wake, { once: true });
    await sleep(clock, untilNextInterval(), pause.signal);
    signal.removeEventListener("abort", wake);
    wake = () => {};
    const now = clock.now();
    for (const vcluster of replica.view.vclusters()) {
      if (now >= (ranAt.get(vcluster.id) ?? 0) + vcluster.cycleInterval) due.add(vcluster.id);
    }
  }

  function untilNextInterval(): Duration {
    const now = clock.now();
    let wait = 30_000;
    for (const vcluster of replica.view.vclusters()) {
      wait = Math.min(wait, (ranAt.get(vcluster.id) ?? 0) + vcluster.cycleInterval - now);
    }
    return duration(Math.max(10, wait));
  }

  function ordered(ids: ReadonlySet<VClusterId>): VCluster[] {
    return [...replica.view.vclusters()].filter((vcluster) => ids.has(vcluster.id));
  }
}
