// The task group record: one submission for many allocations. Elements become ordinary allocation records little by
// little; the state of each is one mark.

import type { AllocationId, DagId, Duration, Instant, UserName } from "../../base/ids.ts";
import type { Hold } from "../hold.ts";
import type { EndKind } from "../spec/dependency.ts";
import type { AllocationSpec } from "../spec/spec.ts";
import { type ElementRange, sizeOf } from "./range.ts";

/** The maximum number of elements of one group. */
export const GROUP_LIMIT = 1_000_000;
/** Elements in the queue at one time: enough for every cycle, few enough to be cheap. */
export const GROUP_WINDOW = 256;
/** Runs in the index list: the record holds them and is rewritten whenever an element moves. */
export const MAX_RUNS = 1_000;
/** The highest index: ids have at most nine digits behind the underscore. */
export const MAX_ELEMENT_INDEX = 999_999_999;
/** Groups with counterparts; each open one is a digit in the marks. */
export const MAX_COUNTERPARTS = 9;

export interface GroupShape {
  readonly range: ElementRange;
  /** The most elements in progress at a time; `null` when unlimited. */
  readonly concurrency: number | null;
}

/** Elements that are active or have ended; all others wait. */
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
  /** The spec of every element. */
  readonly spec: AllocationSpec;
  readonly submittedAt: Instant;
  readonly phase: GroupPhase;
  readonly counts: GroupCounts;
  /** No position below this one waits; meaningless with counterparts. */
  readonly next: number;
  /** Unmet dependencies of the whole group. */
  readonly unmet: readonly number[];
  /** Dependencies that are met element by element. */
  readonly counterparts: readonly number[];
  /** Present while the group is on hold as a whole. */
  readonly hold?: Hold;
  /** The end of its last hold. Default: the time of submission. */
  readonly eligibleAt?: Instant;
  /** Why the whole group was cancelled; absent otherwise. */
  readonly cancelled?: { readonly by: UserName; readonly reason: string; readonly message: string };
  readonly dag?: DagId;
  /** The run time of its elements, the last ones weighing most. Missing until one has ended by itself. */
  readonly usualTime?: Duration;
}

export const NO_COUNTS: GroupCounts = { made: 0, completed: 0, failed: 0, cancelled: 0 };

export const waitingCount = ({ range, counts }: TaskGroup): number =>
  sizeOf(range) - counts.made - counts.completed - counts.failed - counts.cancelled;

type GroupEnd = Extract<GroupPhase, { readonly endedAt: Instant }>;

export const hasGroupEnded = (phase: GroupPhase): phase is GroupEnd => "endedAt" in phase;
