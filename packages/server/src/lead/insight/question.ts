// Questions to the leader's scheduler and their answers: plain values, since a follower forwards them as JSON. A closed
// list; each question has one answer.

import type { AllocationId, Duration, Instant, NodeId, VClusterId } from "@lattice/core";
import type { MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded } from "../../base/observe/recorder.ts";
import type { CheckpointAnswer } from "../controllers/checkpoint/answer.ts";
import type { PlannerQuestions } from "../planner/messages.ts";
import type { Sample } from "../telemetry/samples.ts";
import type { DelayedReservation } from "./extension.ts";

export type { ExplainedAllocation, QueueEntry } from "../planner/answers.ts";

interface Questions extends Pick<PlannerQuestions, "explain" | "plan" | "queue" | "reasons"> {
  readonly checkpoint: { readonly ask: { readonly id: AllocationId }; readonly answer: CheckpointAnswer };
  /** The reservation that the longer walltime would delay, or `null`. */
  readonly extension: {
    readonly ask: { readonly id: AllocationId; readonly walltime: Duration };
    readonly answer: DelayedReservation | null;
  };
  readonly reservations: { readonly ask: { readonly id: AllocationId }; readonly answer: readonly ReservationMoment[] };
  readonly scheduler: { readonly ask: object; readonly answer: readonly CycleFigures[] };
  readonly signals: { readonly ask: object; readonly answer: SignalsRecord | null };
  /** Recent measurements of its agents after that time. */
  readonly samples: {
    readonly ask: { readonly id: AllocationId; readonly after: number };
    readonly answer: readonly Sample[];
  };
  /** The leader's counters of one component. */
  readonly recorded: {
    readonly ask: { readonly component: MetricsComponent; readonly after: number | null };
    readonly answer: Recorded;
  };
  readonly set_signals: {
    readonly ask: { readonly signals: SignalValues; readonly validMs: number };
    readonly answer: SignalsRecord;
  };
}

export type QuestionKind = keyof Questions;
export type Question<K extends QuestionKind = QuestionKind> = K extends QuestionKind
  ? Questions[K]["ask"] & { readonly kind: K }
  : never;
export type AnswerTo<K extends QuestionKind> = Questions[K]["answer"];

export interface ReservationMoment {
  readonly at: Instant;
  readonly kind: "reserved" | "reservation_moved";
  readonly startsAt: Instant;
  readonly nodes: readonly NodeId[];
}

/** Statistics of the cycles of one vCluster since this server leads. */
export interface CycleFigures {
  readonly vcluster: VClusterId;
  readonly cycles: number;
  readonly lastAt: Instant;
  readonly lastSeconds: number;
  readonly longestSeconds: number;
  readonly considered: number;
  readonly reservations: number;
  readonly placements: number;
  readonly refused: number;
  readonly preemptions: number;
  /** Pending allocations by their first reason. */
  readonly waiting: Readonly<Record<string, number>>;
}

export interface SignalValues {
  readonly energyPrice?: number;
  readonly power?: { readonly limit: number; readonly used: number };
  readonly storage?: { readonly limit: number; readonly used: number };
  readonly congestion: Readonly<Record<string, number>>;
  readonly efficiency: Readonly<Record<string, number>>;
  readonly dataReady: Readonly<Record<string, number>>;
  readonly checkpointMinutes: Readonly<Record<string, number>>;
}

export interface SignalsRecord {
  readonly values: SignalValues;
  readonly validUntil: Instant;
}
