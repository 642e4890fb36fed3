// Answers questions about the leader's scheduler: why an allocation waits, what a submission would do, when
// reservations were made, how accurate estimates are. The planner answers what needs the queue; the rest is in memory
// here. Answers change nothing.

import { type AllocationId, type Instant, instant, type VClusterId, type View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded } from "../../base/observe/recorder.ts";
import type { PlanResult } from "../../base/observe/scheduling.ts";
import type { CheckpointAnswer } from "../controllers/checkpoint/answer.ts";
import type { PlannerLink } from "../planner/link.ts";
import type { PublishedCycle } from "../planner/published.ts";
import type { Samples } from "../telemetry/samples.ts";
import { firstDelayed } from "./extension.ts";
import type { MeasuredInputs } from "./measured-inputs.ts";
import type { AnswerTo, CycleFigures, Question, QuestionKind } from "./question.ts";
import { createReservationLog } from "./reservation-log.ts";

interface InsightOptions {
  readonly view: () => View;
  readonly clock: Clock;
  readonly planner: Pick<PlannerLink, "cycles" | "ask">;
  readonly measured: Pick<MeasuredInputs, "signals" | "setSignals">;
  readonly checkpoints: { answer(id: AllocationId): CheckpointAnswer };
  /** Measurements of agents, when they are collected. */
  readonly samples?: Pick<Samples, "since">;
  /** Returns what this server counts for one component. */
  readonly recorded: (component: MetricsComponent, after: number | null) => Recorded;
}

export interface Insight {
  /** Called after every cycle of this server. */
  recordCycle(cycle: PublishedCycle): void;
  /** Called with the outcome of every plan of this server. */
  recordPlan(vcluster: VClusterId, result: PlanResult): void;
  recordPreemption(vcluster: VClusterId): void;
  /** Another server leads: the plans of this one are no longer valid. */
  forget(): void;
  /** Calls back after new signals; returns a function that unsubscribes. */
  onSignals(listener: () => void): () => void;
  answer<K extends QuestionKind>(question: Question<K>): Promise<AnswerTo<K>>;
}

interface InsightState {
  readonly options: InsightOptions;
  readonly reservations: ReturnType<typeof createReservationLog>;
  readonly statistics: ReturnType<typeof createCycleStatistics>;
}

export function createInsight(options: InsightOptions): Insight {
  const state = { options, reservations: createReservationLog(), statistics: createCycleStatistics() };
  const { reservations, statistics } = state;
  const listeners = new Set<() => void>();
  return {
    recordCycle(cycle) {
      statistics.recordCycle(cycle);
      reservations.recordReservations(cycle, cycle.at);
    },
    recordPlan: statistics.recordPlan,
    recordPreemption: statistics.recordPreemption,
    forget: () => statistics.forget(),
    onSignals(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async answer<K extends QuestionKind>(question: Question<K>) {
      const answered = (await answer(state, question as Question)) as AnswerTo<K>;
      if (question.kind === "set_signals") for (const listener of listeners) listener();
      return answered;
    },
  };
}

/** Returns the present time, never earlier than the state. */
const nowOf = ({ clock, view }: InsightOptions): Instant => instant(Math.max(clock.now(), view().at));

async function answer(
  { options, reservations, statistics }: InsightState,
  question: Question,
): Promise<AnswerTo<QuestionKind>> {
  const { planner, measured, view } = options;
  switch (question.kind) {
    case "explain":
    case "plan":
    case "queue":
    case "reasons":
      return planner.ask(question);
    case "extension":
      return firstDelayed(view(), planner.cycles.values(), question);
    case "reservations":
      return reservations.of(question.id);
    case "scheduler":
      return statistics.figures(view(), await waiting(planner));
    case "signals":
      return measured.signals(nowOf(options));
    case "checkpoint":
      return options.checkpoints.answer(question.id);
    case "samples":
      return options.samples?.since(question.id, question.after) ?? [];
    case "recorded":
      return options.recorded(question.component, question.after);
    case "set_signals":
      return measured.setSignals(question.signals, instant(nowOf(options) + question.validMs));
  }
}

/** The rest of the figures is known without the planner. */
const waiting = (planner: Pick<PlannerLink, "ask">): Promise<ReadonlyMap<VClusterId, CycleFigures["waiting"]>> =>
  planner.ask({ kind: "waiting" }).catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.code === "scheduler_restarting") return new Map();
    throw error;
  });

type Tally = { -readonly [K in Exclude<keyof CycleFigures, "vcluster" | "waiting">]: CycleFigures[K] };

interface CycleStatistics {
  recordCycle(cycle: PublishedCycle): void;
  recordPlan(vcluster: VClusterId, result: PlanResult): void;
  recordPreemption(vcluster: VClusterId): void;
  /** `waiting`: pending allocations of each vCluster by their first reason. */
  figures(view: View, waiting: ReadonlyMap<VClusterId, CycleFigures["waiting"]>): readonly CycleFigures[];
  forget(): void;
}

function createCycleStatistics(): CycleStatistics {
  const tallies = new Map<VClusterId, Tally>();
  return {
    recordCycle({ vcluster, at, costMs, considered, reservations }) {
      const known = tallies.get(vcluster);
      const seconds = costMs / 1000;
      tallies.set(vcluster, {
        cycles: (known?.cycles ?? 0) + 1,
        lastAt: at,
        lastSeconds: seconds,
        longestSeconds: Math.max(known?.longestSeconds ?? 0, seconds),
        considered,
        reservations: reservations.length,
        placements: known?.placements ?? 0,
        refused: known?.refused ?? 0,
        preemptions: known?.preemptions ?? 0,
      });
    },
    recordPlan(vcluster, { accepted, rejected }) {
      const tally = tallies.get(vcluster);
      if (tally === undefined) return;
      tally.placements += accepted;
      for (const count of rejected.values()) tally.refused += count;
    },
    recordPreemption(vcluster) {
      const tally = tallies.get(vcluster);
      if (tally !== undefined) tally.preemptions += 1;
    },
    figures: (view, waiting) =>
      [...tallies]
        .filter(([vcluster]) => view.vcluster(vcluster) !== undefined)
        .map(([vcluster, tally]) => ({ vcluster, ...tally, waiting: waiting.get(vcluster) ?? {} })),
    forget: () => tallies.clear(),
  };
}
