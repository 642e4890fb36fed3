// A record as it begins: pending since this entry, without an attempt.

import type { Attempt } from "../ids.ts";
import type { Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";

type Given = Pick<Allocation, "id" | "user" | "spec" | "submittedAt"> & Pick<Partial<Allocation>, "dag">;

export const newRecord = (step: Step, given: Given): Allocation => ({
  id: given.id,
  user: given.user,
  spec: given.spec,
  submittedAt: given.submittedAt,
  ...(given.dag === undefined ? null : { dag: given.dag }),
  phase: { kind: "pending", since: step.at, cause: "submitted" },
  attempt: 0 as Attempt,
  requeues: 0,
  pendingSinceIndex: step.index,
  scores: {},
  backfilled: false,
});
