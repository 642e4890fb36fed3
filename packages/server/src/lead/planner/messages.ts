// The messages between the server and its planner. They are copied or moved between threads, so they hold plain values.

import type {
  AllocationId,
  AllocationSpec,
  Instant,
  LogIndex,
  NodeId,
  Placement,
  Refusal,
  UserName,
  VClusterId,
} from "@lattice/core";
import type { CycleResult, PendingReason, Reservation, Signals } from "@lattice/scheduler";
import type { StateMark } from "../../state/replica/hash-series.ts";
import type { ExplainedAllocation, PlannedSubmission, QueuePage } from "./answers.ts";
import type { PackedIndex, PackedTexts } from "./packed.ts";

export interface PlannerQuestions {
  /** `null` when it is not pending. */
  readonly explain: { readonly ask: { readonly id: AllocationId }; readonly answer: ExplainedAllocation | null };
  readonly plan: {
    readonly ask: { readonly spec: AllocationSpec; readonly user: UserName };
    readonly answer: PlannedSubmission;
  };
  /** `null` when there is no such vCluster. */
  readonly queue: {
    readonly ask: { readonly vcluster: VClusterId; readonly from: number; readonly limit: number };
    readonly answer: QueuePage | null;
  };
  /** Why it is pending, also beyond the last report. */
  readonly reasons: { readonly ask: { readonly id: AllocationId }; readonly answer: readonly PendingReason[] };
  /** Pending allocations of each vCluster by their first reason. */
  readonly waiting: {
    readonly ask: object;
    readonly answer: ReadonlyMap<VClusterId, Readonly<Record<string, number>>>;
  };
}

export type PlannerQuestionKind = keyof PlannerQuestions;
export type PlannerQuestion<K extends PlannerQuestionKind = PlannerQuestionKind> = K extends PlannerQuestionKind
  ? PlannerQuestions[K]["ask"] & { readonly kind: K }
  : never;
export type PlannerAnswer<K extends PlannerQuestionKind> = PlannerQuestions[K]["answer"];

/** Facts that come with every call. */
export interface CallFacts {
  readonly now: Instant;
  /** Days over which use counts towards budgets and shares. */
  readonly budgetDays: number;
  /** Whether a first submission creates its tenant. */
  readonly createTenants: boolean;
}

/** Facts that the leader has measured. */
export interface MeasuredFacts {
  readonly signals: Signals | undefined;
  /** Nodes whose fingerprint is too old; `null` when there are none. */
  readonly stale: ReadonlySet<NodeId> | null;
}

export type ToPlanner =
  /** A part of a snapshot of the state. */
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  /** The snapshot is complete. `reservations`: those of an earlier planner of this leader. */
  | { readonly kind: "restored"; readonly reservations: ReadonlyMap<VClusterId, readonly Reservation[]> }
  /** Entries of the log, one after the other in `bytes`. */
  | { readonly kind: "entries"; readonly bytes: Uint8Array; readonly lengths: readonly number[] }
  /** Nodes whose stream was opened (`true`) or has ended. */
  | { readonly kind: "connections"; readonly changed: ReadonlyMap<NodeId, boolean> }
  | { readonly kind: "measured"; readonly facts: MeasuredFacts }
  | { readonly kind: "cycle"; readonly call: number; readonly facts: CallFacts; readonly vcluster: VClusterId }
  | { readonly kind: "ask"; readonly call: number; readonly facts: CallFacts; readonly question: PlannerQuestion };

/** The plan of one cycle, and what it changes in the report. */
export interface CycleReply {
  readonly vcluster: VClusterId;
  readonly basis: LogIndex;
  readonly at: Instant;
  readonly placements: readonly Placement[];
  readonly preemptions: CycleResult["preemptions"];
  /** A number: the reservation at that place in the previous reply for the same vCluster. */
  readonly reservations: readonly (Reservation | number)[];
  readonly considered: number;
  readonly report: ReportChange;
  /** When the next full report is due for a queue that cannot move; `null` when the queue is empty. */
  readonly reportDueAt: number | null;
  readonly costMs: number;
  /** Spent on the cost function; 0 when it was not needed. */
  readonly scoringMs: number;
}

export type ReportChange =
  | { readonly kind: "full"; readonly estimates: PackedIndex; readonly reasons: PackedTexts }
  /** Over the last full report. */
  | {
      readonly kind: "brief";
      readonly estimates: ReadonlyMap<AllocationId, Instant>;
      readonly reasons: ReadonlyMap<AllocationId, readonly PendingReason[]>;
    };

export type FromPlanner =
  /** The state is restored; `records` is its size. */
  | { readonly kind: "ready"; readonly index: LogIndex }
  /** `null`: the vCluster does not exist. */
  | { readonly kind: "cycled"; readonly call: number; readonly reply: CycleReply | null }
  | { readonly kind: "answered"; readonly call: number; readonly answer: unknown }
  /** Without a refusal the planner has a defect. */
  | { readonly kind: "failed"; readonly call: number; readonly refusal: Refusal | null; readonly message: string }
  | { readonly kind: "marks"; readonly marks: readonly StateMark[] }
  | {
      readonly kind: "estimate_error";
      readonly vcluster: VClusterId;
      readonly which: "first" | "last";
      readonly seconds: number;
    };
