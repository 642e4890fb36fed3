// Answers questions about the leader's scheduler: why an allocation waits, what a submission would do, when
// reservations were made, how accurate estimates are. Keeps the newest cycle of each vCluster. Answers are computed on
// demand within a time budget, and change nothing.

import {
  type AllocationId,
  type AllocationSpec,
  type Duration,
  type Instant,
  instant,
  judgeSubmission,
  type NodeId,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import {
  type CycleInput,
  type CycleRecord,
  type CycleResult,
  cycle,
  type ExternalInputs,
  explain,
  recordCycle,
  type Signals,
  snapshotFor,
  suggestions,
  TRIAL_BUDGET_MS,
} from "@lattice/scheduler";
import { ProblemError, problemFromRefusal } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded } from "../../base/observe/recorder.ts";
import type { PlanResult } from "../../base/observe/scheduling.ts";
import type { NumberedEvent } from "../../state/events/cursor.ts";
import type { CheckpointAnswer, CheckpointSignals } from "../controllers/checkpoint/answer.ts";
import { foreignReservations } from "../controllers/schedule/memory.ts";
import type { Samples } from "../telemetry/samples.ts";
import { createCycleStatistics } from "./cycle-statistics.ts";
import { createEstimateRecord, type ObserveError } from "./estimate-record.ts";
import { firstDelayed } from "./extension.ts";
import { planFor, plannedRecord } from "./plan.ts";
import type { AnswerTo, ExplainedAllocation, PlannedSubmission, Question, QuestionKind } from "./question.ts";
import { queuePage } from "./queue.ts";
import { createReservationLog } from "./reservation-log.ts";
import { createSignalStore, withStorage } from "./signals.ts";
import { createStaleness } from "./stale.ts";
import { viewWith } from "./view-with.ts";

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

export type MeasuredInputs = Pick<ExternalInputs, "signals" | "isStale">;

export interface InsightOptions {
  readonly view: () => View;
  readonly clock: Clock;
  readonly isReachable: (node: NodeId) => boolean;
  /** When a node last reported its fingerprint; `null` when unknown. */
  readonly fingerprintAt: (node: NodeId) => Instant | null;
  /** The greatest age of a fingerprint; `null` without a limit. */
  readonly fingerprintWindow: Duration | null;
  /** The configured limit of storage; `null` when only signals limit it. */
  readonly storageMBps: number | null;
  readonly observeError: ObserveError;
  /** Days over which use counts towards budgets and shares. */
  readonly budgetDays: number;
  readonly checkpoints: { answer(id: AllocationId): CheckpointAnswer; signals(): CheckpointSignals };
  /** Measurements of agents, when they are collected. */
  readonly samples?: Pick<Samples, "since">;
  /** Returns what this server counts for one component. */
  readonly recorded: (component: MetricsComponent, after: number | null) => Recorded;
  /** Whether a first submission creates its tenant. */
  readonly createTenants: boolean;
}

/** An idle queue gets a cycle at least this often; an older record is replaced before it answers. */
const RECORD_AGE_MS = 35_000;
interface SuggestionRequest {
  readonly id: AllocationId;
  readonly expected: Instant | null;
  readonly spec: AllocationSpec | null;
}

export function createInsight(parts: InsightOptions): Insight {
  const { clock } = parts;
  const cycles = new Map<VClusterId, CycleResult>();
  const records = new Map<VClusterId, CycleRecord>();
  const estimates = createEstimateRecord(parts.observeError);
  const reservations = createReservationLog();
  const store = createSignalStore();
  const listeners = new Set<() => void>();
  const statistics = createCycleStatistics();
  const staleAt = createStaleness(parts);
  const specOf = (id: AllocationId): AllocationSpec | null => parts.view().allocation(id)?.spec ?? null;
  const now = (): Instant => instant(Math.max(clock.now(), parts.view().at));

  return {
    cycles,
    recordCycle(result, record, seconds) {
      cycles.set(result.vcluster, result);
      statistics.recordCycle(result, seconds, now());
      if (record !== null) records.set(result.vcluster, record);
      reservations.recordReservations(result, clock.now());
      estimates.recordEstimates(record?.result ?? result, parts.view());
    },
    recordPlan: statistics.recordPlan,
    recordPreemption: statistics.recordPreemption,
    onEvents: estimates.onEvents,
    forget() {
      statistics.forget();
      cycles.clear();
      records.clear();
    },
    externalInputs,
    measuredInputs,
    onSignals(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer: <K extends QuestionKind>(question: Question<K>) => answer(question as Question) as AnswerTo<K>,
  };

  function answer(question: Question): AnswerTo<QuestionKind> {
    switch (question.kind) {
      case "explain":
        return explainAllocation(question.id);
      case "extension":
        return firstDelayed(parts.view(), cycles.values(), question);
      case "plan":
        return planned(question);
      case "reservations":
        return reservations.of(question.id);
      case "queue":
        return queuePage(parts.view(), cycles, statistics, question);
      case "scheduler":
        return statistics.figures(parts.view(), cycles);
      case "signals":
        return store.get(now());
      case "checkpoint":
        return parts.checkpoints.answer(question.id);
      case "samples":
        return parts.samples?.since(question.id, question.after) ?? [];
      case "recorded":
        return parts.recorded(question.component, question.after);
      case "set_signals": {
        const stored = store.set(question.signals, instant(now() + question.validMs));
        for (const listener of listeners) listener();
        return stored;
      }
    }
  }

  function externalInputs(vcluster: VClusterId, at: Instant): ExternalInputs {
    return {
      previousReservations: cycles.get(vcluster)?.reservations ?? [],
      foreignReservations: foreignReservations(parts.view(), cycles, vcluster, at),
      budgetDays: parts.budgetDays,
      ...measuredInputs(at),
    };
  }

  function measuredInputs(at: Instant): MeasuredInputs {
    const signals = merged(withStorage(store.forCycle(at), parts.storageMBps), parts.checkpoints.signals());
    const isStale = staleAt(at);
    return {
      signals,
      ...(isStale === null ? {} : { isStale }),
    };
  }

  function snapshotAt(vcluster: VCluster, at: Instant, view = parts.view()): CycleInput {
    return snapshotFor(view, vcluster, at, parts.isReachable, externalInputs(vcluster.id, at));
  }

  function explainAllocation(id: AllocationId): ExplainedAllocation | null {
    const record = parts.view().allocation(id);
    if (record?.phase.kind !== "pending") return null;
    const vcluster = parts.view().vcluster(record.spec.vcluster);
    if (vcluster === undefined) return null;
    const at = now();
    const known = records.get(vcluster.id);
    const isFresh = known !== undefined && at - known.input.now < RECORD_AGE_MS;
    const explained = isFresh ? explain(known, id) : null;
    if (isFresh && explained !== null) return withSuggestions(known, explained);
    const { record: fresh, result } = recordCycle({ ...snapshotAt(vcluster, at), report: "full" });
    if (fresh === null) return null;
    records.set(vcluster.id, fresh);
    if (!cycles.has(vcluster.id)) cycles.set(vcluster.id, result);
    const explanation = explain(fresh, id);
    return explanation === null ? null : withSuggestions(fresh, explanation);
  }

  function withSuggestions(record: CycleRecord, explanation: ExplainedAllocation["explanation"]): ExplainedAllocation {
    const { allocation: id, vcluster, startsNow, queue } = explanation;
    const expected = startsNow
      ? explanation.at
      : (queue.reservation?.startsAt ?? record.result.estimates.get(id) ?? cycles.get(vcluster)?.estimates.get(id));
    return {
      explanation: {
        ...explanation,
        queue: { ...queue, reservation: committedReservation(id, vcluster, queue.reservation) },
      },
      expected: expected ?? null,
      errorMs: estimates.typicalErrorMs(vcluster),
      sooner: startsNow ? [] : suggestionsFor(record, { id, expected: expected ?? null, spec: specOf(id) }),
    };
  }

  /** Only a reservation of the loop's own cycle counts; one of this answer alone is not committed. */
  function committedReservation<T>(id: AllocationId, vcluster: VClusterId, found: T | null): T | null {
    const isHeld = cycles.get(vcluster)?.reservations.some(({ allocation }) => allocation === id) === true;
    return isHeld ? found : null;
  }

  function suggestionsFor(record: CycleRecord, { id, expected, spec }: SuggestionRequest) {
    const deadline = clock.worked() + TRIAL_BUDGET_MS;
    return suggestions(record, id, {
      expected,
      others: spec === null ? [] : othersFor(record, spec),
      cycle,
      canContinue: () => clock.worked() < deadline,
    });
  }

  /** Records of other vClusters that would accept the allocation unchanged. */
  function othersFor({ input }: CycleRecord, spec: AllocationSpec): CycleRecord[] {
    return [...records.values()].flatMap((record) => {
      const { vcluster } = record.input;
      if (vcluster === input.vcluster || input.now - record.input.now > RECORD_AGE_MS) return [];
      const judged = judgeSubmission(parts.view(), { spec: { ...spec, vcluster }, createTenant: false }, input.now);
      return judged.kind === "good" ? [record] : [];
    });
  }

  function planned({ spec, user }: Question<"plan">): PlannedSubmission {
    const at = now();
    const judged = judgeSubmission(parts.view(), { spec, createTenant: parts.createTenants }, at);
    if (judged.kind === "rejected") throw ProblemError.of(problemFromRefusal(judged.refusal));
    const view = viewWith(parts.view(), plannedRecord(spec, user, at), judged.tenant);
    return planFor({
      now: at,
      snapshot: snapshotAt(judged.vcluster, at, view),
      sooner: (record, request) => suggestionsFor(record, { ...request, spec }),
    });
  }
}

/** Signals take precedence over estimates of the broker. */
function merged(said: Signals | undefined, broker: CheckpointSignals): Signals {
  const both = [...(broker.checkpointMinutes ?? []), ...(said?.checkpointMinutes ?? [])];
  return { ...said, ...broker, ...(both.length === 0 ? {} : { checkpointMinutes: new Map(both) }) };
}
