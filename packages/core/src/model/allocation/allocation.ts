// The allocation record: the unit of work. Records are immutable; a change replaces the record in its table.

import type { Amount } from "../../base/amount.ts";
import type { AllocationId, Attempt, DagId, Instant, LogIndex, NodeId, UserName } from "../../base/ids.ts";
import type { Checkpoints } from "../checkpoint/checkpoint.ts";
import type { GroupCounts, GroupShape } from "../group/group.ts";
import type { Hold } from "../hold.ts";
import type { OwnNetwork } from "../network/domain.ts";
import type { Share } from "../node/node.ts";
import type { Session } from "../session/session.ts";
import type { AllocationSpec } from "../spec/spec.ts";
import type { Entries, Past } from "./past.ts";
import type { AllocationPhase } from "./phase.ts";
import type { AttemptUsage } from "./usage.ts";

/** Score terms of a committed placement, in thousandths, by factor name ("priority", "total", ...). */
export type Scores = Readonly<Record<string, number>>;

interface Scaling {
  readonly at: Instant;
  readonly direction: "up" | "down";
  /** Consecutive changes of direction. */
  readonly turns: number;
}

interface Renewal {
  /** Nodes of this attempt and earlier ones run the previous program. */
  readonly through: Attempt;
  /** Number of nodes at the time of the update. */
  readonly size: number;
  /** Set when the new program failed, which halts the replacement. Default: not halted. */
  readonly halted?: Instant;
}

export interface Allocation {
  readonly id: AllocationId;
  readonly user: UserName;
  readonly spec: AllocationSpec;
  readonly submittedAt: Instant;
  readonly phase: AllocationPhase;
  /** Number of the newest attempt; 0 before the first placement. */
  readonly attempt: Attempt;
  readonly requeues: number;
  /** Of a service: the requeues before its last long healthy run, which no longer count. */
  readonly requeuesForgotten: number;
  /** Preemptions, which its requeues do not count. */
  readonly preemptions: number;
  /** Suspensions with a complete checkpoint for other causes. */
  readonly suspensions: number;
  /** Attempts that waited behind other elements and did not begin, which its requeues do not count. Default: none. */
  readonly recalls?: number;
  /** Missing until a checkpoint is requested. */
  readonly checkpoints?: Checkpoints;
  /** Index of the entry that last made it pending: a plan based on less is stale (E8, O7). */
  readonly pendingSinceIndex: LogIndex;
  /** Of the newest placement. */
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Its share of the node in the newest placement. Default: whole nodes. */
  readonly share?: Share;
  /** Nodes added while it ran; each is its own attempt. */
  readonly added: number;
  /** Restarts of the whole service for an update. */
  readonly updates: number;
  /** The newest change of its size. Default: none. */
  readonly scaling?: Scaling;
  /** Set while nodes are being replaced after an update. */
  readonly renewal?: Renewal;
  /** The network domain of its current or last attempt. Default: none. */
  readonly network?: OwnNetwork;
  /** Missing without history. */
  readonly past?: Past;
  /** The log entries of its current or last attempt. Missing before the first placement. */
  readonly entries?: Entries;
  /** Resources used by attempts, oldest first, as far as they are over. Missing while no node has reported any. */
  readonly usage?: readonly AttemptUsage[];
  /** Charged to the ledger for the attempts that are over. */
  readonly charged: Amount;
  /** Open terminals. */
  readonly sessions: readonly Session[];
  /** Nodes where it failed to start; excluded from placement. */
  readonly excludedNodes: readonly NodeId[];
  /** Unmet dependencies, by position in the spec. It is queued when all are met. */
  readonly unmet: readonly number[];
  /** Present while it is pending and on hold. */
  readonly hold?: Hold;
  /** The end of its last hold. Default: the time of submission. */
  readonly eligibleAt?: Instant;
  /** For an element of a task group. */
  readonly element?: { readonly group: AllocationId; readonly index: number };
  readonly dag?: DagId;
  /** For a task group in the history: the outcomes of its elements. */
  readonly group?: GroupShape & { readonly counts: GroupCounts };
}
