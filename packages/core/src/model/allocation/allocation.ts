// The allocation record: the universal unit of work. Records are immutable values; a change
// replaces the record in its table.

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

/** Score terms of a committed placement, in thousandths, by factor name ("priority", "total", ...). */
export type Scores = Readonly<Record<string, number>>;

interface Scaling {
  readonly at: Instant;
  readonly direction: "up" | "down";
  /** How often it has changed its direction in a row. */
  readonly turns: number;
}

interface Renewal {
  /** Nodes of this attempt and older ones run what was there before. */
  readonly through: Attempt;
  /** Nodes that it had then. */
  readonly size: number;
  /** The time since which no node is replaced because the new program failed. Default: not halted. */
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
  /** Of a service: the requeues before its last long healthy run, which no longer count. Default: 0. */
  readonly requeuesForgotten?: number;
  /** Preemptions, which its requeues do not count. Default: 0. */
  readonly preemptions?: number;
  /** Suspensions with a complete checkpoint for other causes. Default: 0. */
  readonly suspensions?: number;
  /** Missing until a checkpoint is requested. */
  readonly checkpoints?: Checkpoints;
  /** Index of the entry that last made it pending: a plan based on less is stale (E8, O7). */
  readonly pendingSinceIndex: LogIndex;
  /** Of the newest placement. */
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Its part of the node in the newest placement. Default: whole nodes. */
  readonly share?: Share;
  /** Nodes added while it ran; each was an attempt of its own. Default: 0. */
  readonly added?: number;
  /** Restarts of the whole service for an update. Default: 0. */
  readonly updates?: number;
  /** The newest change of its size. Default: none. */
  readonly scaling?: Scaling;
  /** Set when it was updated while it ran: its nodes are to be replaced. */
  readonly renewal?: Renewal;
  /** The domain of its current attempt, or of its last one. Default: none. */
  readonly network?: OwnNetwork;
  /** Missing while there is no history. */
  readonly past?: Past;
  /** Of its current or last attempt. Missing before the first placement. */
  readonly entries?: Entries;
  /** Open terminals. Default: none. */
  readonly sessions?: readonly Session[];
  /** Nodes where it failed to start; it is not placed there again. Default: none. */
  readonly excludedNodes?: readonly NodeId[];
  /** Dependencies that are not met yet, by their place in the spec; absent when none. It is not queued before. */
  readonly unmet?: readonly number[];
  /** Present while it is pending and on hold. */
  readonly hold?: Hold;
  /** The end of its last hold. Default: the time of submission. */
  readonly eligibleAt?: Instant;
  /** Of a task group's element. */
  readonly element?: { readonly group: AllocationId; readonly index: number };
  readonly dag?: DagId;
  /** Of a whole task group in the history: what became of its elements. */
  readonly group?: GroupShape & { readonly counts: GroupCounts };
}
