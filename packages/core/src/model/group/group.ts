// The task group record: one submission that stands for many allocations. Its elements become
// ordinary allocation records little by little; what becomes of each is kept as one mark.

import type { AllocationId, DagId, Instant, UserName } from "../../base/ids.ts";
import type { Hold } from "../hold.ts";
import type { EndKind } from "../spec/dependency.ts";
import type { AllocationSpec } from "../spec/spec.ts";
import { type ElementRange, sizeOf } from "./range.ts";

/** Most elements of one group. */
export const GROUP_LIMIT = 1_000_000;
/** Elements that wait for nodes at one time: enough for every cycle, few enough to cost nothing. */
export const GROUP_WINDOW = 256;
/** Runs of one group's list: the record holds them, and is rewritten whenever an element moves. */
export const MAX_RUNS = 1_000;
/** The highest index: ids have at most nine digits behind the underscore. */
export const MAX_ELEMENT_INDEX = 999_999_999;
/** Groups whose elements those of another wait for; each open one is a digit in its marks. */
export const MAX_COUNTERPARTS = 9;

export interface GroupShape {
  readonly range: ElementRange;
  /** The most elements in progress at a time; `null` when unlimited. */
  readonly concurrency: number | null;
}

/** Elements that are under way or have ended; all others wait. */
export interface GroupCounts {
  readonly made: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

export type GroupPhase =
  | { readonly kind: "pending" }
  | { readonly kind: "running"; readonly startedAt: Instant }
  | { readonly kind: EndKind; readonly startedAt: Instant | null; readonly endedAt: Instant };

export interface TaskGroup extends GroupShape {
  readonly id: AllocationId;
  readonly user: UserName;
  /** Of every element. */
  readonly spec: AllocationSpec;
  readonly submittedAt: Instant;
  readonly phase: GroupPhase;
  readonly counts: GroupCounts;
  /** No position below this one waits; of no meaning with counterparts. */
  readonly next: number;
  /** Edges of the group as a whole that are not met yet; absent when none. */
  readonly unmet?: readonly number[];
  /** Edges that are met element by element; absent when none. */
  readonly counterparts?: readonly number[];
  /** Present while the group is on hold as a whole. */
  readonly hold?: Hold;
  /** The end of its last hold. Default: the time of submission. */
  readonly eligibleAt?: Instant;
  /** Why it was cancelled as a whole; absent unless it was. */
  readonly cancelled?: { readonly by: UserName; readonly reason: string; readonly message: string };
  readonly dag?: DagId;
}

export const NO_COUNTS: GroupCounts = { made: 0, completed: 0, failed: 0, cancelled: 0 };

export const waitingCount = ({ range, counts }: TaskGroup): number =>
  sizeOf(range) - counts.made - counts.completed - counts.failed - counts.cancelled;

type GroupEnd = Extract<GroupPhase, { readonly endedAt: Instant }>;

export const hasGroupEnded = (phase: GroupPhase): phase is GroupEnd => "endedAt" in phase;
