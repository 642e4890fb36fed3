// Runs scheduling cycles: at once when something relevant happens, and on each vCluster's own
// interval. One cycle at a time; a plan is committed before the next cycle looks, so that no cycle
// plans with what another has just taken. Between cycles the loop leaves the event loop to others
// in proportion to what the last one cost.

import { type Duration, duration, type Instant, type VCluster, type VClusterId } from "@lattice/core";
import { type CycleResult, conclude, nothingToDo, type Study, snapshotFor } from "@lattice/scheduler";
import type { Logger } from "pino";
import type { AgentHub } from "../../agents/hub.ts";
import { type Clock, sleep } from "../../clock.ts";
import type { Measured } from "../../insight/index.ts";
import type { Sequencer } from "../../leader/sequencer.ts";
import type { PlanResult } from "../../observe/scheduling.ts";
import type { Replica } from "../../replica/replica.ts";
import { carryOutPreemptions } from "../preempt/act.ts";
import { createScheduleMemory } from "./memory.ts";
import { planResult } from "./plan-result.ts";
import { wakeupOf } from "./wakeups.ts";

/** A loop busy with cycles still leaves this many times a cycle's cost to everything else. */
const REST_FACTOR = 2;

export interface ScheduleContext {
  readonly replica: Replica;
  readonly sequencer: Sequencer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly minGap: Duration;
  /** A node without a stream cannot be told to start anything; it is judged elsewhere, and later. */
  readonly hub: Pick<AgentHub, "connected" | "onConnect">;
  readonly onCycle: (result: CycleResult, seconds: number, kept: CycleDetails) => void;
  /** What is measured rather than replicated. */
  readonly measured: (now: Instant) => Measured;
  /** Calls back when what is measured was told anew. */
  readonly onSignals: (listener: () => void) => () => void;
  readonly onPlan: (vcluster: VClusterId, result: PlanResult) => void;
  readonly onPreempted: (vcluster: string, reason: string) => void;
  /** Days over which use counts towards budgets and shares. */
  readonly budgetDays: number;
}

export interface CycleDetails {
  /** For questions about it. */
  readonly study: Study | null;
  /** Spent on the cost function; 0: it was not needed. */
  readonly scoringSeconds: number;
}

export async function runSchedule(context: ScheduleContext, signal: AbortSignal): Promise<void> {
  const { replica, clock, logger, hub } = context;
  const due = new Set<VClusterId>();
  const ranAt = new Map<VClusterId, Instant>();
  const memory = createScheduleMemory(() => replica.view);
  const toldLater = new Set<VClusterId>();
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
    // Ten thousand busy nodes that come back together are nothing to plan with.
    if (replica.view.node(node)?.claims.length === 0) markAll();
  });
  // A budget that has room again lets somebody start.
  const ignore = context.onSignals(markAll);
  signal.addEventListener("abort", () => wake(), { once: true });
  markAll();

  while (!signal.aborted) {
    if (due.size === 0) await idle();
    // Whatever else happens in this turn of the event loop belongs into the same cycle.
    await clock.turn();
    const began = clock.worked();
    for (const vcluster of ordered(due)) {
      due.delete(vcluster.id);
      ranAt.set(vcluster.id, clock.now());
      if (signal.aborted || (nothingToDo(replica.view, vcluster) && !isReportDue(vcluster))) continue;
      await runCycle(vcluster).catch((error) => {
        if (signal.aborted) return;
        logger.warn({ err: error, vcluster: vcluster.id }, "plan not committed; trying again");
        clock.after(duration(250), () => mark(vcluster.id));
      });
    }
    const cost = clock.worked() - began;
    await sleep(clock, duration(Math.ceil(Math.max(context.minGap, Math.min(cost * REST_FACTOR, 1_000)))), signal);
  }
  unsubscribe();
  forget();
  ignore();

  /** Nothing can start. Who has come since the last report is told as soon as the next one is due, and gets a place. */
  function isReportDue(vcluster: VCluster): boolean {
    const at = memory.reportDueAt(vcluster);
    const wait = at === null ? null : at - clock.now();
    if (wait === null || wait <= 0) return wait !== null;
    if (!toldLater.has(vcluster.id)) {
      toldLater.add(vcluster.id);
      clock.after(duration(Math.ceil(wait)), () => {
        toldLater.delete(vcluster.id);
        mark(vcluster.id);
      });
    }
    return false;
  }

  async function runCycle(vcluster: VCluster): Promise<void> {
    const began = clock.worked();
    const now = clock.now();
    let scoringMs = 0;
    const { result, study } = conclude(
      snapshotFor(replica.view, vcluster, now, hub.connected, {
        ...memory.beyond(vcluster, now),
        ...context.measured(now),
        budgetDays: context.budgetDays,
        timed(_what, run) {
          const start = clock.worked();
          const made = run();
          scoringMs += clock.worked() - start;
          return made;
        },
      }),
    );
    const costMs = clock.worked() - began;
    context.onCycle(memory.took(result, now, costMs), costMs / 1000, { study, scoringSeconds: scoringMs / 1000 });
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

  /** Sleeps until an event wakes the loop or a vCluster's own interval is over. */
  async function idle(): Promise<void> {
    const pause = new AbortController();
    // With a reason of its own: making the default one, with its stack, costs more than the wait.
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
