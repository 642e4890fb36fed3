// Creates the record of a new allocation: pending since this entry, without an attempt.

import { NO_ATTEMPT } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { Step } from "../step.ts";

type Given = Pick<Allocation, "id" | "user" | "spec" | "submittedAt"> & Pick<Partial<Allocation>, "dag">;

export const newRecord = (step: Step, given: Given): Allocation => ({
  id: given.id,
  user: given.user,
  spec: given.spec,
  submittedAt: given.submittedAt,
  ...(given.dag === undefined ? null : { dag: given.dag }),
  phase: { kind: "pending", since: step.at, cause: "submitted" },
  attempt: NO_ATTEMPT,
  requeues: 0,
  pendingSinceIndex: step.index,
  scores: {},
  backfilled: false,
});
