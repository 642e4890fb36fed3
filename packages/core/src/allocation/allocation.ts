// The allocation record: the universal unit of work. Records are immutable values; a change
// replaces the record in its table.

import type { Checkpoints } from "../checkpoint/checkpoint.ts";
import type { GroupCounts, GroupShape } from "../group/group.ts";
import type { AllocationId, Attempt, DagId, Instant, LogIndex, NodeId, UserName } from "../ids.ts";
import type { OwnNetwork } from "../network/domain.ts";
import type { Share } from "../node/node.ts";
import type { Session } from "../session/session.ts";
import type { Hold } from "./hold.ts";
import type { Entries, Past } from "./past.ts";
import type { AllocationPhase } from "./phase.ts";
import type { AllocationSpec } from "./spec.ts";

/** Score terms of a committed placement, in thousandths, by factor name ("priority", "total", ...). */
export type Scores = Readonly<Record<string, number>>;

export interface Scaling {
  readonly at: Instant;
  readonly direction: "up" | "down";
  /** How often it has changed its direction in a row. */
  readonly turns: number;
}

export interface Renewal {
  /** Nodes of this attempt and older ones run what was there before. */
  readonly through: Attempt;
  /** Nodes that it had then. */
  readonly size: number;
  /** Since when nothing is replaced, the new program having failed. Absent: it has not. */
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
  /** Of a service: so many of its requeues were before it ran well for long, and no longer count. Absent: none. */
  readonly forgiven?: number;
  /** How often it was stopped for others, which its requeues do not count; absent: never. */
  readonly preemptions?: number;
  /** How often it was suspended for other causes, its checkpoint complete; absent: never. */
  readonly suspensions?: number;
  /** Absent: none was asked for. */
  readonly checkpoints?: Checkpoints;
  /** Index of the entry that last made it pending: a plan based on less is stale (E8, O7). */
  readonly pendingSinceIndex: LogIndex;
  /** Of the newest placement. */
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Its part of the node, in the newest placement; absent: it had its nodes to itself. */
  readonly share?: Share;
  /** Nodes that were added to it while it ran; each was an attempt of its own. Absent: none. */
  readonly added?: number;
  /** How often it was begun again as a whole for an update. Absent: never. */
  readonly updates?: number;
  /** The newest change of its size. Absent: none. */
  readonly scaling?: Scaling;
  /** It was updated while it ran: its nodes are to be replaced. Absent: never. */
  readonly renewal?: Renewal;
  /** While it is placed, and of its last attempt afterwards: the domain it is in. Absent: none. */
  readonly network?: OwnNetwork;
  /** Absent: nothing to tell. */
  readonly past?: Past;
  /** Of the attempt that it is in, or ended with. Absent: it was never placed and waits, or is of an earlier version. */
  readonly entries?: Entries;
  /** Who has a terminal in it. Absent: nobody. */
  readonly sessions?: readonly Session[];
  /** Nodes that could not be made ready for it; it is not placed there again. Absent: none. */
  readonly setAside?: readonly NodeId[];
  /** Dependencies that are not met yet, by their place in the spec; absent when none. It is not queued before. */
  readonly unmet?: readonly number[];
  /** While it is pending: somebody wants it to wait. Absent: nobody does. */
  readonly hold?: Hold;
  /** Since when it may run, where a hold ended; absent: since its submission. */
  readonly eligibleAt?: Instant;
  /** Of a task group's element. */
  readonly element?: { readonly group: AllocationId; readonly index: number };
  readonly dag?: DagId;
  /** Of a whole task group in the history: what became of its elements. */
  readonly group?: GroupShape & { readonly counts: GroupCounts };
}
