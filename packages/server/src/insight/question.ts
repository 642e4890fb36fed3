// What may be asked of the leader's scheduler, and what it answers: plain values, since a follower passes them on
// as JSON. A closed list; each question has one answer.

import type {
  AllocationId,
  AllocationSpec,
  Duration,
  Instant,
  NodeId,
  Scores,
  UserName,
  VClusterId,
} from "@lattice/core";
import type { Explanation, PendingReason, Suggestion } from "@lattice/scheduler";
import type { CheckpointAnswer } from "../controllers/checkpoint/answer.ts";
import type { MetricsComponent } from "../observe/components.ts";
import type { Recorded } from "../observe/recorder.ts";
import type { Sample } from "../telemetry/samples.ts";
import type { Delayed } from "./extension.ts";

export interface Questions {
  readonly checkpoint: { readonly ask: { readonly id: AllocationId }; readonly answer: CheckpointAnswer };
  /** Whose reserved start would be taken away if it ran for so long; null: nobody's. */
  readonly extension: {
    readonly ask: { readonly id: AllocationId; readonly walltime: Duration };
    readonly answer: Delayed | null;
  };
  /** Null: it does not wait. */
  readonly explain: { readonly ask: { readonly id: AllocationId }; readonly answer: Explained | null };
  readonly plan: {
    readonly ask: { readonly spec: AllocationSpec; readonly user: UserName };
    readonly answer: Planned;
  };
  readonly reservations: { readonly ask: { readonly id: AllocationId }; readonly answer: readonly ReservationMoment[] };
  /** Null: there is no such vCluster. */
  readonly queue: {
    readonly ask: { readonly vcluster: VClusterId; readonly from: number; readonly limit: number };
    readonly answer: QueueLook | null;
  };
  readonly scheduler: { readonly ask: object; readonly answer: readonly CycleFigures[] };
  readonly signals: { readonly ask: object; readonly answer: SignalsRecord | null };
  /** What its agents have measured since then, as far as it is remembered. */
  readonly samples: {
    readonly ask: { readonly id: AllocationId; readonly after: number };
    readonly answer: readonly Sample[];
  };
  /** What the leader counts of its scheduler, as it remembers it. */
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

export interface Explained {
  readonly explanation: Explanation;
  readonly expected: Instant | null;
  /** Half of the estimates of late were off by no more; null: none to tell from. */
  readonly errorMs: number | null;
  readonly sooner: readonly Suggestion[];
}

export interface Planned {
  readonly now: Instant;
  readonly startsNow: boolean;
  readonly expected: Instant | null;
  /** It would have that start reserved. */
  readonly reserved: boolean;
  readonly nodes: readonly NodeId[];
  readonly backfilled: boolean;
  readonly scores: Scores;
  readonly causes: readonly PendingReason[];
  readonly wouldPreempt: readonly AllocationId[];
  readonly sooner: readonly Suggestion[];
  readonly position: number;
  readonly length: number;
}

export interface ReservationMoment {
  readonly at: Instant;
  readonly kind: "reserved" | "reservation_moved";
  readonly startsAt: Instant;
  readonly nodes: readonly NodeId[];
}

export interface QueueLook {
  /** When the scheduler looked last; null: not yet. */
  readonly asOf: Instant | null;
  readonly total: number;
  /** In the order of the last look; those that came since at the end. */
  readonly waiting: readonly Waiting[];
}

export interface Waiting {
  readonly id: AllocationId;
  readonly scoreMilli: number | null;
  readonly expected: Instant | null;
  readonly reserved: boolean;
  readonly reasons: readonly PendingReason[];
}

/** What the cycles of one vCluster came to, since this server leads. */
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
  /** Those that wait, by their first reason. */
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
