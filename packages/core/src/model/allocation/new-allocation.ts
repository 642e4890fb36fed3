// The record of a new allocation: pending, without an attempt.

import { NO_USE } from "../../base/amount.ts";
import { type Instant, type LogIndex, NO_ATTEMPT } from "../../base/ids.ts";
import type { Allocation } from "./allocation.ts";

type Given = Pick<Allocation, "id" | "user" | "spec" | "submittedAt"> & Pick<Partial<Allocation>, "dag">;

/** `at` and `index` are those of the entry that creates it. */
export const newAllocation = (
  given: Given,
  { at, index }: { readonly at: Instant; readonly index: LogIndex },
): Allocation => ({
  id: given.id,
  user: given.user,
  spec: given.spec,
  submittedAt: given.submittedAt,
  ...(given.dag === undefined ? null : { dag: given.dag }),
  phase: { kind: "pending", since: at, cause: "submitted" },
  attempt: NO_ATTEMPT,
  requeues: 0,
  requeuesForgotten: 0,
  preemptions: 0,
  suspensions: 0,
  pendingSinceIndex: index,
  scores: {},
  backfilled: false,
  added: 0,
  charged: NO_USE,
  updates: 0,
  sessions: [],
  excludedNodes: [],
  unmet: [],
});
