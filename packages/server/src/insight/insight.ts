// What the leader's scheduler can tell beyond its plans: why an allocation waits, what a submission would do, when
// reservations were made, how good estimates have been. Keeps the newest cycle of each vCluster for that. Answers
// are worked out when they are asked for, within a budget of time, and change nothing.

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
  type Beyond,
  type CycleInput,
  type CycleResult,
  conclude,
  cycle,
  explain,
  type Signals,
  type Study,
  snapshotFor,
  suggestions,
  TRIAL_BUDGET_MS,
} from "@lattice/scheduler";
import { ProblemError, problemFromRefusal } from "@lattice/wire";
import type { NumberedEvent } from "../api/control-plane.ts";
import type { Clock } from "../clock.ts";
import type { CheckpointAnswer, CheckpointSignals } from "../controllers/checkpoint/answer.ts";
import { foreignReservations } from "../controllers/schedule/memory.ts";
import type { MetricsComponent } from "../observe/components.ts";
import type { Recorded } from "../observe/recorder.ts";
import type { PlanResult } from "../observe/scheduling.ts";
import type { Samples } from "../telemetry/samples.ts";
import { createCycleRecord } from "./cycle-record.ts";
import { createEstimateRecord, type ObserveError } from "./estimate-record.ts";
import { delayedBy } from "./extension.ts";
import { planFor, plannedRecord } from "./plan.ts";
import type { AnswerTo, Explained, Planned, Question, QuestionKind } from "./question.ts";
import { lookAtQueue } from "./queue.ts";
import { createReservationLog } from "./reservation-log.ts";
import { createSignalStore, withStorage } from "./signals.ts";
import { createStaleness } from "./stale.ts";
import { viewWith } from "./view-with.ts";

export interface Insight {
  /** The newest cycle of each vCluster, as told. */
  readonly cycles: ReadonlyMap<VClusterId, CycleResult>;
  /** After every cycle of this server. */
  took(told: CycleResult, study: Study | null, seconds: number): void;
  /** What became of a plan of this server. */
  planned(vcluster: VClusterId, result: PlanResult): void;
  preempted(vcluster: VClusterId): void;
  saw(events: readonly NumberedEvent[]): void;
  /** Another server leads: what this one has planned is no longer true. */
  forget(): void;
  /** What the leader knows beyond the view, for a look outside its own cycles. */
  beyond(vcluster: VClusterId, now: Instant): Beyond;
  /** What is measured rather than replicated: signals, and fingerprints that are too old. */
  measured(now: Instant): Measured;
  /** Calls back when somebody has told signals; answers how to be left alone again. */
  onSignals(listener: () => void): () => void;
  answer<K extends QuestionKind>(question: Question<K>): AnswerTo<K>;
}

export type Measured = Pick<Beyond, "signals" | "isStale">;

export interface InsightParts {
  readonly view: () => View;
  readonly clock: Clock;
  readonly reachable: (node: NodeId) => boolean;
  /** When a node last told its fingerprint; null: not known. */
  readonly introduced: (node: NodeId) => Instant | null;
  /** Null: a fingerprint is never too old. */
  readonly fingerprintWindow: Duration | null;
  /** Of storage, as configured; null: no limit but what somebody measures. */
  readonly storageMBps: number | null;
  readonly observeError: ObserveError;
  /** Over which use counts towards budgets and shares. */
  readonly budgetDays: number;
  readonly checkpoints: { answer(id: AllocationId): CheckpointAnswer; signals(): CheckpointSignals };
  /** What agents tell of the use of allocations; absent: nobody listens. */
  readonly samples?: Pick<Samples, "since">;
  /** What this server counts of a part of it. */
  readonly recorded: (component: MetricsComponent, after: number | null) => Recorded;
  /** Whether a first submission makes its tenant. */
  readonly createTenants: boolean;
}

/** A queue that nothing happens to is looked at at least this often; what is older is looked at anew. */
const STUDY_AGE_MS = 35_000;
interface Wanted {
  readonly id: AllocationId;
  readonly expected: Instant | null;
  readonly spec: AllocationSpec | null;
}

export function createInsight(parts: InsightParts): Insight {
  const { clock } = parts;
  const cycles = new Map<VClusterId, CycleResult>();
  const kept = new Map<VClusterId, Study>();
  const estimates = createEstimateRecord(parts.observeError);
  const reservations = createReservationLog();
  const store = createSignalStore();
  const listeners = new Set<() => void>();
  const record = createCycleRecord();
  const staleAt = createStaleness(parts);
  const specOf = (id: AllocationId): AllocationSpec | null => parts.view().allocation(id)?.spec ?? null;
  const now = (): Instant => instant(Math.max(clock.now(), parts.view().at));

  return {
    cycles,
    took(told, study, seconds) {
      cycles.set(told.vcluster, told);
      record.took(told, seconds, now());
      if (study !== null) kept.set(told.vcluster, study);
      reservations.took(told, clock.now());
      estimates.took(study?.result ?? told, parts.view());
    },
    planned: record.planned,
    preempted: record.preempted,
    saw: estimates.saw,
    forget() {
      record.forget();
      cycles.clear();
      kept.clear();
    },
    beyond,
    measured,
    onSignals(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer: <K extends QuestionKind>(question: Question<K>) => answer(question as Question) as AnswerTo<K>,
  };

  function answer(question: Question): AnswerTo<QuestionKind> {
    switch (question.kind) {
      case "explain":
        return explained(question.id);
      case "extension":
        return delayedBy(parts.view(), cycles.values(), question);
      case "plan":
        return planned(question);
      case "reservations":
        return reservations.of(question.id);
      case "queue":
        return lookAtQueue(parts.view(), cycles, record, question);
      case "scheduler":
        return record.figures(parts.view(), cycles);
      case "signals":
        return store.get(now());
      case "checkpoint":
        return parts.checkpoints.answer(question.id);
      case "samples":
        return parts.samples?.since(question.id, question.after) ?? [];
      case "recorded":
        return parts.recorded(question.component, question.after);
      case "set_signals": {
        const told = store.set(question.signals, instant(now() + question.validMs));
        for (const listener of listeners) listener();
        return told;
      }
    }
  }

  function beyond(vcluster: VClusterId, at: Instant): Beyond {
    return {
      previous: cycles.get(vcluster)?.reservations ?? [],
      foreign: foreignReservations(parts.view(), cycles, vcluster, at),
      budgetDays: parts.budgetDays,
      ...measured(at),
    };
  }

  function measured(at: Instant): Measured {
    const signals = merged(withStorage(store.forCycle(at), parts.storageMBps), parts.checkpoints.signals());
    const isStale = staleAt(at);
    return {
      signals,
      ...(isStale === null ? {} : { isStale }),
    };
  }

  function look(vcluster: VCluster, at: Instant, view = parts.view()): CycleInput {
    return snapshotFor(view, vcluster, at, parts.reachable, beyond(vcluster.id, at));
  }

  function explained(id: AllocationId): Explained | null {
    const record = parts.view().allocation(id);
    if (record?.phase.kind !== "pending") return null;
    const vcluster = parts.view().vcluster(record.spec.vcluster);
    if (vcluster === undefined) return null;
    const at = now();
    const known = kept.get(vcluster.id);
    const isFresh = known !== undefined && at - known.input.now < STUDY_AGE_MS;
    const told = isFresh ? explain(known, id) : null;
    if (isFresh && told !== null) return whole(known, told);
    const { study, result } = conclude({ ...look(vcluster, at), report: "full" });
    if (study === null) return null;
    kept.set(vcluster.id, study);
    if (!cycles.has(vcluster.id)) cycles.set(vcluster.id, result);
    const explanation = explain(study, id);
    return explanation === null ? null : whole(study, explanation);
  }

  function whole(study: Study, explanation: Explained["explanation"]): Explained {
    const { allocation: id, vcluster, startsNow, queue } = explanation;
    const expected = startsNow
      ? explanation.at
      : (queue.reservation?.startsAt ?? study.result.estimates.get(id) ?? cycles.get(vcluster)?.estimates.get(id));
    return {
      explanation: { ...explanation, queue: { ...queue, reservation: heldFor(id, vcluster, queue.reservation) } },
      expected: expected ?? null,
      errorMs: estimates.typicalErrorMs(vcluster),
      sooner: startsNow ? [] : soonerFor(study, { id, expected: expected ?? null, spec: specOf(id) }),
    };
  }

  /** What a cycle of the loop has promised; what only this answer worked out may yet come otherwise. */
  function heldFor<T>(id: AllocationId, vcluster: VClusterId, found: T | null): T | null {
    const isHeld = cycles.get(vcluster)?.reservations.some(({ allocation }) => allocation === id) === true;
    return isHeld ? found : null;
  }

  function soonerFor(study: Study, { id, expected, spec }: Wanted) {
    const deadline = clock.worked() + TRIAL_BUDGET_MS;
    return suggestions(study, id, {
      expected,
      others: spec === null ? [] : othersFor(study, spec),
      cycle,
      mayGoOn: () => clock.worked() < deadline,
    });
  }

  /** Of other vClusters that would take it as it is. */
  function othersFor({ input }: Study, spec: AllocationSpec): Study[] {
    return [...kept.values()].flatMap((study) => {
      const { vcluster } = study.input;
      if (vcluster === input.vcluster || input.now - study.input.now > STUDY_AGE_MS) return [];
      const judged = judgeSubmission(parts.view(), { spec: { ...spec, vcluster }, createTenant: false }, input.now);
      return judged.kind === "good" ? [study] : [];
    });
  }

  function planned({ spec, user }: Question<"plan">): Planned {
    const at = now();
    const judged = judgeSubmission(parts.view(), { spec, createTenant: parts.createTenants }, at);
    if (judged.kind === "rejected") throw ProblemError.of(problemFromRefusal(judged.refusal));
    const view = viewWith(parts.view(), plannedRecord(spec, user, at), judged.tenant);
    return planFor({
      now: at,
      snapshot: look(judged.vcluster, at, view),
      sooner: (study, wanted) => soonerFor(study, { ...wanted, spec }),
    });
  }
}

/** What somebody has said stands before what the broker reckons. */
function merged(said: Signals | undefined, broker: CheckpointSignals): Signals {
  const both = [...(broker.checkpointMinutes ?? []), ...(said?.checkpointMinutes ?? [])];
  return { ...said, ...broker, ...(both.length === 0 ? {} : { checkpointMinutes: new Map(both) }) };
}
