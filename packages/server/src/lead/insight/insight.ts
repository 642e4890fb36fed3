// Answers questions about the leader's scheduler: why an allocation waits, what a submission would do, when
// reservations were made, how accurate estimates are. Keeps the newest cycle of each vCluster. Answers are computed on
// demand within a time budget, and change nothing.

import { type Instant, instant, type VClusterId } from "@lattice/core";
import type { CycleRecord, CycleResult, ExternalInputs } from "@lattice/scheduler";
import type { PlanResult } from "../../base/observe/scheduling.ts";
import type { NumberedEvent } from "../../state/events/cursor.ts";
import { explainAllocation } from "./explain.ts";
import { firstDelayed } from "./extension.ts";
import {
  createInsightState,
  externalInputs,
  type InsightOptions,
  type InsightState,
  type MeasuredInputs,
  measuredInputs,
  nowOf,
} from "./inputs.ts";
import { planSubmission } from "./plan.ts";
import type { AnswerTo, Question, QuestionKind } from "./question.ts";
import { queuePage } from "./queue.ts";

export interface Insight {
  /** The newest published result of each vCluster. */
  readonly cycles: ReadonlyMap<VClusterId, CycleResult>;
  /** Called after every cycle of this server. */
  recordCycle(result: CycleResult, record: CycleRecord | null, seconds: number): void;
  /** Called with the outcome of every plan of this server. */
  recordPlan(vcluster: VClusterId, result: PlanResult): void;
  recordPreemption(vcluster: VClusterId): void;
  onEvents(events: readonly NumberedEvent[]): void;
  /** Another server leads: the plans of this one are no longer valid. */
  forget(): void;
  /** Returns the leader's knowledge in addition to the view, for a cycle outside the loop. */
  externalInputs(vcluster: VClusterId, now: Instant): ExternalInputs;
  /** Returns the inputs that are measured, not replicated: signals, and outdated fingerprints. */
  measuredInputs(now: Instant): MeasuredInputs;
  /** Calls back after new signals; returns a function that unsubscribes. */
  onSignals(listener: () => void): () => void;
  answer<K extends QuestionKind>(question: Question<K>): AnswerTo<K>;
}

export function createInsight(options: InsightOptions): Insight {
  const state = createInsightState(options);
  const { cycles, records, estimates, reservations, statistics } = state;
  const listeners = new Set<() => void>();
  return {
    cycles,
    recordCycle(result, record, seconds) {
      cycles.set(result.vcluster, result);
      statistics.recordCycle(result, seconds, nowOf(state));
      if (record !== null) records.set(result.vcluster, record);
      reservations.recordReservations(result, options.clock.now());
      estimates.recordEstimates(record?.result ?? result, options.view());
    },
    recordPlan: statistics.recordPlan,
    recordPreemption: statistics.recordPreemption,
    onEvents: estimates.onEvents,
    forget() {
      statistics.forget();
      cycles.clear();
      records.clear();
    },
    externalInputs: (vcluster, at) => externalInputs(state, vcluster, at),
    measuredInputs: (at) => measuredInputs(state, at),
    onSignals(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer<K extends QuestionKind>(question: Question<K>) {
      const answered = answer(state, question as Question) as AnswerTo<K>;
      if (question.kind === "set_signals") for (const listener of listeners) listener();
      return answered;
    },
  };
}

function answer(state: InsightState, question: Question): AnswerTo<QuestionKind> {
  const { options, cycles, reservations, signals, statistics } = state;
  switch (question.kind) {
    case "explain":
      return explainAllocation(state, question.id);
    case "extension":
      return firstDelayed(options.view(), cycles.values(), question);
    case "plan":
      return planSubmission(state, question);
    case "reservations":
      return reservations.of(question.id);
    case "queue":
      return queuePage(options.view(), cycles, statistics, question);
    case "scheduler":
      return statistics.figures(options.view(), cycles);
    case "signals":
      return signals.get(nowOf(state));
    case "checkpoint":
      return options.checkpoints.answer(question.id);
    case "samples":
      return options.samples?.since(question.id, question.after) ?? [];
    case "recorded":
      return options.recorded(question.component, question.after);
    case "set_signals":
      return signals.set(question.signals, instant(nowOf(state) + question.validMs));
  }
}
